#include "fuzz/store_reading.h"

#include <fmt/format.h>
#include <fstream>
#include <iterator>

#include "fuzz/harness.h"
#include "store/merge.h"
#include "store/night.h"
#include "store/store.h"
#include "store/upkeep.h"

namespace redzone::fuzz {
namespace {

using store::Store;

// Keeps the first error of a reader, or "".
class FirstError {
 public:
  template <class T>
  const T* of(const Result<T>& result) {
    if (!result && first_.empty()) first_ = result.error().message;
    return result ? &*result : nullptr;
  }
  const std::string& text() const { return first_; }

 private:
  std::string first_;
};

std::string read_nights(Store& store) {
  FirstError error;
  store::NightBook book(store);
  const auto runs = book.runs();
  if (const auto* all = error.of(runs))
    for (const auto& run : *all) {
      error.of(book.replays(run.campaign));
      error.of(book.targets(run.campaign));
      error.of(book.device_seconds(run.campaign));
      error.of(book.occurrences(run.campaign));
    }
  error.of(book.last_replayed());
  error.of(book.bisected());
  return error.text();
}

std::string read_all(Store& store) {
  FirstError error;
  error.of(store.moment());
  error.of(store.campaigns());
  error.of(store.all_entries());
  error.of(store.quarantined());
  error.of(store::contents(store));
  const auto findings = store.findings();
  if (const auto* all = error.of(findings))
    for (const auto& finding : *all) {
      error.of(store.finding(finding.id));
      error.of(store.find(finding.signature));
      error.of(store.trials(finding.id));
      error.of(store.artifacts(finding.id));
      error.of(store.entries(finding.id));
      error.of(store.probes({finding.id, finding.environment.device, "c0de"}));
    }
  return error.text().empty() ? read_nights(store) : error.text();
}

void require_sound(const std::filesystem::path& file, const char* what) {
  const auto wrong = store::check(file);
  require(wrong.has_value() && wrong->empty(),
          fmt::format("{} is sound: {}", what,
                      wrong ? fmt::format("{}", fmt::join(*wrong, "; ")) : wrong.error().message));
}

void require_done(const auto& result, const char* what) {
  require(result.has_value(), fmt::format("{}: {}", what, result ? "" : result.error().message));
}

}  // namespace

StoreFolder::StoreFolder() {
  const auto made = fresh("new.db");
  require_done(Store::open(made, store::OpenMode::read_write_create), "a new store can be made");
  std::ifstream in(made, std::ios::binary);
  empty_.assign(std::istreambuf_iterator<char>(in), {});
}

std::filesystem::path StoreFolder::fresh(const char* name) const {
  const auto file = folder_.path() / name;
  for (const char* beside : {"", "-wal", "-shm"}) {
    std::error_code ignored;
    std::filesystem::remove(file.string() + beside, ignored);
  }
  return file;
}

std::filesystem::path StoreFolder::fresh(const char* name, std::string_view image) const {
  const auto file = fresh(name);
  std::ofstream out(file, std::ios::binary);
  out.write(image.data(), static_cast<std::streamsize>(image.size()));
  return file;
}

void StoreFolder::write(std::string_view image) const {
  fresh("input.db", image);
}

void StoreFolder::read() const {
  const auto wrong = store::check(file());
  const bool sound = wrong && wrong->empty();
  std::string problem;
  if (auto store = Store::open(file(), store::OpenMode::read_only)) {
    problem = read_all(*store);
    auto into = Store::open(fresh("merged.db", empty_), store::OpenMode::read_write_create);
    require_done(into, "an empty store can be opened");
    const auto merged = store::merge(*store, *into);
    if (sound) require_done(merged, "a sound store can be merged");
  } else {
    problem = store.error().message;
  }
  if (sound) {
    require(problem.empty(), fmt::format("a sound store can be read: {}", problem));
    require_sound(folder_.path() / "merged.db", "a merge of a sound store");
    const auto refused = store::copy_store(file(), fresh("copy.db"));
    require_done(refused, "a sound store can be copied");
    require(refused->empty(), "a copy of a sound store to a new file is not refused");
    require_sound(folder_.path() / "copy.db", "a copy of a sound store");
  }
  // Last, because it changes the file: opening for writing migrates it to the newest version.
  if (auto store = Store::open(file(), store::OpenMode::read_write_create)) {
    const auto pruned = store::prune(*store, 0);
    if (sound) require_done(pruned, "a sound store can be pruned");
  } else {
    require(!sound, fmt::format("a sound store can be written: {}", store.error().message));
  }
  if (sound) require_sound(file(), "what pruning leaves of a sound store");
}

}  // namespace redzone::fuzz

#include "fleet/take_up.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <system_error>
#include <utility>

#include "core/log.h"
#include "core/terminal.h"
#include "fleet/shared_folder.h"
#include "store/upkeep.h"

namespace redzone::fleet {
namespace fs = std::filesystem;
namespace {

// Copies one store after another until a copy is sound.
class Taker {
 public:
  explicit Taker(fs::path store) : store_(std::move(store)) {}

  // Returns false if this store cannot be used.
  Result<bool> take(const fs::path& from) {
    std::error_code error;
    fs::copy_file(from, store_, fs::copy_options::overwrite_existing, error);
    if (error == std::errc::no_space_on_device)
      return harness_error(fmt::format("{}: {}", store_.string(), error.message()));
    if (error == std::errc::no_such_file_or_directory) return refuse();  // a later one replaced it
    if (error) return refuse(from, error.message());
    // Check the copy, since the night continues with the copy.
    const auto problems = store::check(store_);
    if (!problems) return refuse(from, problems.error().message);
    if (!problems->empty()) return refuse(from, problems->front());
    return true;
  }
  const std::string& problem() const { return problem_; }

 private:
  bool refuse() {
    std::error_code ignored;
    for (const char* end : {"", "-wal", "-shm"}) fs::remove(store_.string() + end, ignored);
    return false;
  }
  bool refuse(const fs::path& from, const std::string& why) {
    problem_ = printable(fmt::format("{}: not taken up: {}", from.string(), why));
    log::warn("fleet: {}", problem_);
    return refuse();
  }

  fs::path store_;
  std::string problem_;
};

}  // namespace

Result<TakenUp> take_up(const Layout& layout, const std::string& uid, const Attempt& attempt,
                        const fs::path& store) {
  Taker taker(store);
  for (std::set<SnapshotName> tried;;) {
    // List again each time: a listed snapshot may have been replaced.
    RZ_TRY_ASSIGN(const auto all, snapshots_before(layout, uid, attempt));
    const auto next = std::find_if(all.begin(), all.end(),
                                   [&](const auto& name) { return !tried.contains(name); });
    if (next == all.end()) break;
    RZ_TRY_ASSIGN(const bool taken, taker.take(layout.snapshot(*next)));
    if (taken) return TakenUp{next->attempt.number, taker.problem()};
    tried.insert(*next);
  }
  if (std::error_code none; fs::exists(layout.known(), none)) RZ_TRY(taker.take(layout.known()));
  return TakenUp{.problem = taker.problem()};
}

}  // namespace redzone::fleet

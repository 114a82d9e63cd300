#include "fleet/shared_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <ctime>
#include <system_error>
#include <utility>

#include "core/log.h"
#include "core/terminal.h"
#include "fleet/record_file.h"
#include "store/merge.h"
#include "store/merged_copies.h"
#include "store/publish.h"
#include "store/reduced.h"

namespace redzone::fleet {
namespace fs = std::filesystem;
namespace {

// Returns the names in a folder that `parse` accepts.
template <class Parse>
auto list_names(const fs::path& folder, Parse parse)
    -> Result<std::vector<typename decltype(parse(std::string_view()))::value_type>> {
  std::vector<typename decltype(parse(std::string_view()))::value_type> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (auto name = parse(it->path().filename().string())) names.push_back(*std::move(name));
  if (error) return harness_error(fmt::format("{}: {}", folder.string(), error.message()));
  return names;
}

std::optional<Attempt> parse_status(std::string_view name) {
  constexpr std::string_view kEnd = ".json";
  if (!name.ends_with(kEnd)) return std::nullopt;
  return parse_attempt(name.substr(0, name.size() - kEnd.size()));
}

// Creates the file; false if it exists.
Result<bool> create_only(const fs::path& file) {
  const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd < 0 && errno == EEXIST) return false;
  if (fd < 0)
    return usage_error(
        fmt::format("{}: cannot be written: {}", file.string(), std::strerror(errno)));
  ::close(fd);
  return true;
}

auto holds_a_fleet(const Layout& layout) {
  return usage_error(fmt::format("{} holds a fleet already: name another folder, or remove it",
                                 layout.root.string()));
}

// The files of a fleet, besides fleet.json, that do not contain its uid.
std::vector<fs::path> files_of_one_fleet(const Layout& layout) {
  return {layout.stop(),      layout.jobs(),       layout.known(),
          layout.hub_store(), layout.hub_status(), layout.leases()};
}

// True if the attempt belongs to another fleet. A damaged status has no uid and counts as this
// fleet's.
bool is_foreign(const AttemptStatus& status, const std::string& uid) {
  return !status.fleet.empty() && status.fleet != uid;
}

// Removes all but the highest number of each attempt.
void keep_latest(std::vector<SnapshotName>& snapshots) {
  std::sort(snapshots.begin(), snapshots.end());
  std::vector<SnapshotName> latest;
  for (const auto& s : snapshots) {
    if (!latest.empty() && latest.back().attempt == s.attempt) latest.pop_back();
    latest.push_back(s);
  }
  snapshots = std::move(latest);
}

}  // namespace

Result<void> check_clock(const fs::path& new_file) {
  struct stat made = {};
  if (::stat(new_file.c_str(), &made) != 0)
    return harness_error(fmt::format("{}: {}", new_file.string(), std::strerror(errno)));
  const double off = std::difftime(std::time(nullptr), made.st_mtime);
  if (std::abs(off) <= kMostClockError) return {};
  return usage_error(fmt::format(
      "the clock of this machine is {:.0f} s {} that of {}: set it first, by NTP for example",
      std::abs(off), off > 0 ? "ahead of" : "behind", new_file.parent_path().string()));
}

namespace {

// The existing part of the path must be a folder: the folder itself, or its nearest existing
// parent.
Result<void> can_be_folder(const fs::path& folder) {
  std::error_code error;
  fs::path nearest = fs::absolute(folder, error);
  while (nearest.has_relative_path() && !fs::exists(fs::symlink_status(nearest, error)))
    nearest = nearest.parent_path();
  const auto there = fs::status(nearest, error);
  if (fs::is_directory(there)) return {};
  return usage_error(fmt::format("{}: {}", nearest.string(),
                                 fs::exists(there) ? std::strerror(ENOTDIR) : error.message()));
}

}  // namespace

Result<void> check_folder(const Layout& layout) {
  RZ_TRY(can_be_folder(layout.root));
  std::error_code error;
  if (fs::exists(fs::symlink_status(layout.fleet(), error))) return holds_a_fleet(layout);
  for (const auto& file : files_of_one_fleet(layout))
    if (fs::exists(fs::symlink_status(file, error)))
      return usage_error(fmt::format(
          "{} is of an earlier fleet: name another folder, or remove that file", file.string()));
  return {};
}

Result<void> create_folder(const Layout& layout, const Fleet& fleet) {
  RZ_TRY(check_folder(layout));
  std::error_code error;
  fs::create_directories(layout.root, error);
  if (error) return usage_error(fmt::format("{}: {}", layout.root.string(), error.message()));
  RZ_TRY_ASSIGN(const bool created, create_only(layout.fleet()));
  if (!created) return holds_a_fleet(layout);
  auto made = [&]() -> Result<void> {
    RZ_TRY(check_clock(layout.fleet()));
    for (const auto& folder : {layout.attempts(), layout.snapshots(), layout.requests(),
                               layout.answers(), layout.logs()}) {
      fs::create_directories(folder, error);
      if (error) return usage_error(fmt::format("{}: {}", folder.string(), error.message()));
    }
    RZ_TRY(write_record(layout.fleet(), fleet));
    // Values that cannot be read back, such as a word with a control character, are reported now.
    RZ_TRY(read_fleet(layout));
    return {};
  }();
  if (!made) fs::remove(layout.fleet(), error);
  return made;
}

void abandon_folder(const Layout& layout) {
  std::error_code ignored;
  fs::remove(layout.fleet(), ignored);
  for (const auto& file : files_of_one_fleet(layout)) fs::remove(file, ignored);
}

Result<Fleet> read_fleet(const Layout& layout) {
  std::error_code ignored;
  if (!fs::exists(layout.fleet(), ignored))
    return usage_error(
        fmt::format("{}: holds no fleet; on another machine than that of 'redzone fleet submit': "
                    "is the folder shared?",
                    layout.root.string()));
  return read_record<Fleet>(layout.fleet());
}

Result<Fleet> read_fleet_of(const Layout& layout, const std::string& uid) {
  RZ_TRY_ASSIGN(auto fleet, read_fleet(layout));
  if (!uid.empty() && fleet.uid != uid)
    return usage_error(fmt::format(
        "{}: holds another fleet than the one of this job: do all nodes share the folder?",
        layout.root.string()));
  return fleet;
}

Result<std::optional<Attempt>> latest_attempt(const Layout& layout, int shard) {
  RZ_TRY_ASSIGN(const auto all, list_names(layout.attempts(), parse_status));
  std::optional<Attempt> latest;
  for (const auto& attempt : all)
    if (attempt.shard == shard && (!latest || *latest < attempt)) latest = attempt;
  return latest;
}

Result<Attempt> claim_attempt(const Layout& layout, int shard, const AttemptStatus& status) {
  RZ_TRY_ASSIGN(const auto latest, latest_attempt(layout, shard));
  Attempt attempt{shard, latest ? latest->number + 1 : 1};
  for (;; ++attempt.number) {
    if (attempt.number >= kAttemptsEnd)
      return usage_error(fmt::format("{}: leaves no number for another attempt: remove it",
                                     layout.attempt({shard, kAttemptsEnd - 1}).string()));
    RZ_TRY_ASSIGN(const bool created, create_only(layout.attempt(attempt)));
    if (created) break;
  }
  const auto clock = check_clock(layout.attempt(attempt));
  AttemptStatus begun = status;
  if (!clock) {
    begun.ended = begun.began;
    begun.exit_code = kUsage;
    begun.failed = true;
    begun.problem = clock.error().message;
  }
  const auto told = write_record(layout.attempt(attempt), begun);
  std::error_code ignored;
  if (!told) fs::remove(layout.attempt(attempt), ignored);  // the attempt then does not exist
  if (!clock) return tl::unexpected(clock.error());
  if (!told) return tl::unexpected(told.error());
  return attempt;
}

Result<std::map<Attempt, AttemptStatus>> read_attempts(const Layout& layout,
                                                       const std::string& uid) {
  RZ_TRY_ASSIGN(const auto all, list_names(layout.attempts(), parse_status));
  std::map<Attempt, AttemptStatus> statuses;
  for (const auto& attempt : all) {
    auto status = read_record<AttemptStatus>(layout.attempt(attempt));
    std::error_code error;
    // An empty file: the attempt was claimed just now.
    if (!status && fs::file_size(layout.attempt(attempt), error) != 0 && !error)
      status = AttemptStatus{.problem = status.error().message};
    if (status && is_foreign(*status, uid)) continue;
    statuses.emplace(attempt, status ? *std::move(status) : AttemptStatus{});
  }
  return statuses;
}

Result<std::vector<SnapshotName>> list_snapshots(const Layout& layout) {
  RZ_TRY_ASSIGN(auto all, list_names(layout.snapshots(), parse_snapshot));
  keep_latest(all);
  return all;
}

Result<std::vector<SnapshotName>> snapshots_before(const Layout& layout, const std::string& uid,
                                                   const Attempt& attempt) {
  RZ_TRY_ASSIGN(auto all, list_snapshots(layout));
  std::erase_if(all, [&](const SnapshotName& s) {
    if (s.attempt.shard != attempt.shard || !(s.attempt < attempt)) return true;
    const auto status = read_record<AttemptStatus>(layout.attempt(s.attempt));
    return status && is_foreign(*status, uid);
  });
  std::reverse(all.begin(), all.end());
  return all;
}

Result<void> publish_snapshot(const Layout& layout, const SnapshotName& name, store::Store& store) {
  RZ_TRY(store::publish(store, layout.snapshot(name)));
  std::error_code ignored;
  if (name.number > 1) fs::remove(layout.snapshot({name.attempt, name.number - 1}), ignored);
  return {};
}

Result<std::unique_ptr<SharedHub>> SharedHub::open(const Layout& layout, const std::string& uid,
                                                   const Attempt& attempt, const fs::path& local) {
  std::vector<std::string> problems;
  for (const auto& from : {layout.hub_store(), layout.known()}) {
    std::error_code error;
    if (!fs::exists(from, error)) continue;
    // Checked in place, so that an error names the original file.
    if (const auto sound = store::Store::open(from, store::OpenMode::read_only); !sound) {
      // Everything that the hub merged is in the snapshots. The rename keeps the hub's next copy
      // from replacing this file.
      if (from == layout.hub_store() && attempt.shard == kHubShard)
        fs::rename(from, layout.unread_hub_store(), error);
      problems.push_back(printable(sound.error().message));
      log::warn("fleet: {}: the hub begins without it", problems.back());
      continue;
    }
    fs::copy_file(from, local, error);
    if (error) return harness_error(fmt::format("{}: {}", local.string(), error.message()));
    break;
  }
  RZ_TRY_ASSIGN(auto store, store::Store::open(local, store::OpenMode::read_write_create));
  return std::unique_ptr<SharedHub>(
      new SharedHub(layout, uid, attempt, std::move(store), std::move(problems)));
}

bool SharedHub::is_owner() {
  const auto latest = latest_attempt(layout_, kHubShard);
  return latest && *latest && **latest == attempt_;
}

bool SharedHub::is_replaced() {
  const auto latest = latest_attempt(layout_, kHubShard);
  return latest && *latest && attempt_ < **latest;
}

Result<std::vector<SnapshotName>> SharedHub::snapshots() {
  RZ_TRY_ASSIGN(auto all, list_snapshots(layout_));
  std::erase_if(all, [this](const SnapshotName& snapshot) {
    if (const auto known = foreign_.find(snapshot.attempt); known != foreign_.end())
      return known->second;
    const auto status = read_record<AttemptStatus>(layout_.attempt(snapshot.attempt));
    if (!status) return false;
    return foreign_[snapshot.attempt] = is_foreign(*status, uid_);
  });
  return all;
}

Result<bool> SharedHub::merge(const SnapshotName& snapshot) {
  const auto file = layout_.snapshot(snapshot);
  std::error_code ignored;
  auto from = store::Store::open(file, store::OpenMode::read_only);
  if (!from && !fs::exists(file, ignored)) return false;
  if (!from) return tl::unexpected(from.error());
  RZ_TRY(store::merge(*from, store_));
  RZ_TRY(store::note_merged_copy(store_, source_of(snapshot.attempt), snapshot.number));
  return true;
}

// Includes the uid, because the store that the fleet started from may contain merged snapshots of
// other fleets.
std::string SharedHub::source_of(const Attempt& attempt) const {
  return uid_ + " " + text_of(attempt);
}

Result<std::map<Attempt, std::int64_t>> SharedHub::merged() {
  RZ_TRY_ASSIGN(const auto copies, store::merged_copies(store_));
  std::map<Attempt, std::int64_t> numbers;
  for (const auto& [source, number] : copies) {
    const auto attempt = parse_attempt(source.substr(source.find(' ') + 1));
    if (attempt && source == source_of(*attempt)) numbers[*attempt] = number;
  }
  return numbers;
}

Result<std::set<std::string>> SharedHub::reduced() {
  return store::reduced_signatures(store_);
}

Result<void> SharedHub::publish() {
  return store::publish(store_, layout_.hub_store(), [this] { return is_owner(); });
}

Result<std::vector<Request>> SharedHub::requests() {
  return list_names(layout_.requests(), parse_request);
}

Result<void> SharedHub::answer(const Request& request, Answer answer) {
  const std::string name = text_of(request);
  if (const auto written = write_file(layout_.answers() / name, name_of(answer)); !written)
    return harness_error(written.error().message);
  std::error_code error;
  fs::remove(layout_.requests() / name, error);
  if (error) return harness_error(fmt::format("{}: {}", name, error.message()));
  return {};
}

Result<std::vector<Lease>> SharedHub::leases() {
  std::error_code ignored;
  if (!fs::exists(layout_.leases(), ignored)) return std::vector<Lease>{};
  auto book = read_record<LeaseBook>(layout_.leases());
  if (book) return std::move(book->leases);
  // Without leases a finding may be reduced twice, but without a hub every finding would be.
  problems_.push_back(book.error().message);
  log::warn("fleet: {}: begun without leases", problems_.back());
  return std::vector<Lease>{};
}

Result<void> SharedHub::keep(const std::vector<Lease>& leases) {
  return write_record(layout_.leases(), LeaseBook{leases});
}

Result<std::set<std::string>> published_reductions(const Layout& layout) {
  std::error_code ignored;
  if (!fs::exists(layout.hub_store(), ignored)) return std::set<std::string>{};
  RZ_TRY_ASSIGN(auto hub, store::Store::open(layout.hub_store(), store::OpenMode::read_only));
  return store::reduced_signatures(hub);
}

void remove_questions(const Layout& layout, const Attempt& last) {
  // Remove requests first: the hub does not answer a removed request.
  for (const auto& folder : {layout.requests(), layout.answers()}) {
    const auto names = list_names(folder, parse_request);
    if (!names) continue;
    std::error_code ignored;
    for (const auto& name : *names)
      if (name.attempt.shard == last.shard && name.attempt <= last)
        fs::remove(folder / text_of(name), ignored);
  }
}

bool SharedInquiries::ask(std::int64_t number, const std::string& signature) {
  const auto name = text_of(Request{attempt_, number, signature});
  return write_file(layout_.requests() / name, "").has_value();
}

std::optional<Answer> SharedInquiries::take_answer(std::int64_t number,
                                                   const std::string& signature) {
  const auto file = layout_.answers() / text_of(Request{attempt_, number, signature});
  std::error_code error;
  if (!fs::exists(file, error)) return std::nullopt;
  constexpr std::size_t kMostBytes = 64;
  const auto text = read_file(file, kMostBytes);
  const auto answer = text ? value_named<Answer>(*text) : std::nullopt;
  fs::remove(file, error);
  return answer;
}

}  // namespace redzone::fleet

#include "fleet/shard_job.h"

#include <fmt/format.h>
#include <signal.h>

#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/child_process.h"
#include "core/exit_code.h"
#include "core/log.h"
#include "core/terminal.h"
#include "core/utc.h"
#include "fleet/process.h"
#include "fleet/record_file.h"
#include "fleet/shared_folder.h"
#include "store/upkeep.h"

namespace redzone::fleet {
namespace fs = std::filesystem;
namespace {

using Time = std::chrono::steady_clock;

// How often the end of the night, and a signal, are looked for.
constexpr std::chrono::milliseconds kLook{200};
// How often the store is looked into for new findings.
constexpr std::chrono::seconds kLookForFindings{10};

// Publishes the store of a night that runs beside this.
class Publisher {
 public:
  Publisher(Layout layout, const Attempt& attempt, AttemptStatus status, fs::path store)
      : layout_(std::move(layout)),
        attempt_(attempt),
        status_(std::move(status)),
        store_(std::move(store)) {}

  // Publishes if `always` or if there are other findings than in the latest snapshot. What fails is
  // told in the status, and is tried again the next time.
  void publish(bool always) {
    const auto published = try_publish(always);
    if (published) return;
    status_.problem = printable(published.error().message);
    log::warn("fleet: no snapshot of shard {}: {}", attempt_.shard, status_.problem);
    tell();
  }
  void end(int exit_code) {
    status_.exit_code = exit_code;
    status_.ended = utc_now();
    tell();
  }

 private:
  Result<void> try_publish(bool always) {
    std::error_code ignored;
    if (!fs::exists(store_, ignored)) return {};  // the night has not begun
    RZ_TRY_ASSIGN(auto store, store::Store::open(store_, store::OpenMode::read_only));
    RZ_TRY_ASSIGN(auto contents, store::contents(store));
    if (!always && contents.findings_by_state == findings_) return {};
    RZ_TRY(publish_snapshot(layout_, {attempt_, status_.snapshot + 1}, store));
    findings_ = std::move(contents.findings_by_state);
    ++status_.snapshot;
    status_.published = utc_now();
    status_.problem.clear();
    tell();
    return {};
  }
  void tell() {
    if (const auto told = write_record(layout_.attempt(attempt_), status_); !told)
      log::warn("fleet: {}", told.error().message);
  }

  Layout layout_;
  Attempt attempt_;
  AttemptStatus status_;
  fs::path store_;
  std::vector<std::pair<std::string, std::int64_t>> findings_;
};

std::vector<std::string> words_of(const ShardJob& job, const Fleet& fleet, const fs::path& store) {
  std::vector<std::string> words{job.redzone, "nightly"};
  words.insert(words.end(), fleet.nightly.begin(), fleet.nightly.end());
  for (const auto& [flag, value] : std::vector<std::pair<std::string, std::string>>{
           {"--shard", fmt::format("{}/{}", job.shard, fleet.shards)},
           {"--seed", std::to_string(fleet.seed)},
           {"--db", store.string()},
           {"--fleet", job.layout.root.string()}}) {
    words.push_back(flag);
    words.push_back(value);
  }
  return words;
}

// The night's exit code, if an attempt of the shard has run it to its end.
Result<std::optional<int>> ended_before(const Layout& layout, int shard) {
  RZ_TRY_ASSIGN(const auto attempts, read_attempts(layout));
  for (const auto& [attempt, status] : attempts)
    if (attempt.shard == shard && status.has_ended() && status.exit_code != kInterrupted)
      return status.exit_code;
  return std::nullopt;
}

Result<int> run_attempt(const ShardJob& job, const Fleet& fleet, const fs::path& folder) {
  AttemptStatus status{.host = job.host, .job = job.job, .began = utc_now()};
  RZ_TRY_ASSIGN(const Attempt attempt, claim_attempt(job.layout, job.shard, status));
  const fs::path store = folder / "redzone.db";
  RZ_TRY_ASSIGN(const auto before, snapshot_before(job.layout, attempt));
  std::error_code error;
  if (before) {
    status.taken_up = before->attempt.number;
    fs::copy_file(job.layout.snapshot(*before), store, error);
  } else if (std::error_code none; fs::exists(job.layout.known(), none)) {
    fs::copy_file(job.layout.known(), store, error);
  }
  if (error) return harness_error(fmt::format("{}: {}", store.string(), error.message()));
  RZ_TRY(write_record(job.layout.attempt(attempt), status));

  RZ_TRY_ASSIGN(auto night, ChildProcess::start({.words = words_of(job, fleet, store)}));
  Publisher publisher(job.layout, attempt, status, store);
  auto last = Time::now(), looked = last;
  std::optional<int> ended;
  for (bool told = false; !ended; ended = night.ended()) {
    std::this_thread::sleep_for(kLook);
    if (job.interrupted() && !told) {
      told = true;
      night.signal(SIGTERM);
      publisher.publish(false);  // the job may be killed before the night has ended
    }
    const auto now = Time::now();
    const bool due = now - last >= std::chrono::duration<double>(fleet.snapshot_seconds);
    if (!due && now - looked < kLookForFindings) continue;
    publisher.publish(due);
    looked = Time::now();
    if (due) last = looked;
  }
  publisher.publish(true);
  const int code = exit_code_of_wait(*ended);
  publisher.end(code);
  return code;
}

}  // namespace

Result<int> run_shard(const ShardJob& job) {
  RZ_TRY_ASSIGN(const Fleet fleet, read_fleet_of(job.layout, job.uid));
  if (job.shard < 1 || job.shard > fleet.shards)
    return usage_error(fmt::format("{}: has no shard {}, of {}", job.layout.root.string(),
                                   job.shard, fleet.shards));
  RZ_TRY_ASSIGN(const auto ended, ended_before(job.layout, job.shard));
  if (ended) return *ended;
  const fs::path folder =
      job.local / fmt::format("redzone-{}-{}", fleet.uid.substr(0, 8), job.shard);
  std::error_code error;
  fs::remove_all(folder, error);  // of an attempt that was killed on this machine
  fs::create_directories(folder, error);
  if (error) return harness_error(fmt::format("{}: {}", folder.string(), error.message()));
  auto code = run_attempt(job, fleet, folder);
  fs::remove_all(folder, error);
  return code;
}

}  // namespace redzone::fleet

#include "fleet/shard_job.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/child_process.h"
#include "core/exit_code.h"
#include "core/log.h"
#include "core/utc.h"
#include "fleet/local_folder.h"
#include "fleet/process.h"
#include "fleet/publisher.h"
#include "fleet/record_file.h"
#include "fleet/shared_folder.h"
#include "fleet/take_up.h"
#include "store/night.h"

namespace redzone::fleet {
namespace fs = std::filesystem;
namespace {

using Time = std::chrono::steady_clock;

// How often the job checks for the end of the night and for a signal.
constexpr std::chrono::milliseconds kLook{200};
// How often the job checks the store for new findings.
constexpr std::chrono::seconds kLookForFindings{10};

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

bool is_stopped(const Layout& layout) {
  std::error_code ignored;
  return fs::exists(layout.stop(), ignored);
}

// Runs the night to its end and publishes meanwhile. Returns the wait status of the night's
// process.
Result<int> run_night(const ShardJob& job, const Fleet& fleet, const fs::path& store,
                      Publisher& publisher) {
  RZ_TRY_ASSIGN(auto night, ChildProcess::start({.words = words_of(job, fleet, store)}));
  auto last = Time::now(), looked = last;
  std::optional<int> ended;
  for (bool told = false; !ended; ended = night.ended()) {
    std::this_thread::sleep_for(kLook);
    // Slurm's signal does not reach a shard that is just starting; the stop file does.
    if (!told && (job.interrupted() || is_stopped(job.layout))) {
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
  return *ended;
}

// True if the night of this fleet's shard came to its end and stored its result. False if it ended
// early, for example without its GPU; nights of other fleets in the store do not count.
bool is_whole(const Fleet& fleet, int shard, const fs::path& file) {
  const auto runs = [&]() -> Result<std::vector<store::NightRun>> {
    RZ_TRY_ASSIGN(auto store, store::Store::open(file, store::OpenMode::read_only));
    return store::NightBook(store).runs();
  }();
  return runs && std::any_of(runs->begin(), runs->end(), [&](const store::NightRun& run) {
           return run.fleet == fleet.uid && run.shard == shard && run.finished() &&
                  run.problem.empty();
         });
}

// How the night ended: `status` is the wait status of its process.
AttemptEnd end_of(const ShardJob& job, const Fleet& fleet, const fs::path& store, int status) {
  // The process was told to end before it could end in an orderly way.
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM) return {kInterrupted};
  const int code = exit_code_of_wait(status);
  const bool over = code == kOk || code == kFound || code == kNotJudged || code == kInterrupted;
  if (over || is_whole(fleet, job.shard, store)) return {code};
  return {code, WIFSIGNALED(status)
                    ? fmt::format("the night was killed by signal {}", WTERMSIG(status))
                    : fmt::format("the night ended with exit code {} before its time", code)};
}

// Runs an attempt that was claimed. `status`: the last reported status.
Result<AttemptEnd> run_claimed(const ShardJob& job, const Fleet& fleet, const Attempt& attempt,
                               AttemptStatus& status) {
  RZ_TRY_ASSIGN(
      auto folder,
      LocalFolder::make(job.local, local_name(fleet, std::to_string(job.shard)), attempt.number));
  const fs::path store = folder / "redzone.db";
  RZ_TRY_ASSIGN(const auto taken, take_up(job.layout, fleet.uid, attempt, store));
  status.taken_up = taken.attempt;
  status.problem = taken.problem;
  RZ_TRY(write_record(job.layout.attempt(attempt), status));
  Publisher publisher(job.layout, attempt, status, store);
  RZ_TRY_ASSIGN(const int ended, run_night(job, fleet, store, publisher));
  return publisher.conclude(end_of(job, fleet, store, ended), folder, job.interrupted, job.now);
}

// `failures`: number of failed attempts before this one.
Result<int> run_attempt(const ShardJob& job, const Fleet& fleet, int failures) {
  AttemptStatus status{.fleet = fleet.uid, .host = job.host, .job = job.job, .began = utc_now()};
  RZ_TRY_ASSIGN(const Attempt attempt, claim_attempt(job.layout, job.shard, status));
  remove_questions(job.layout, attempt);  // requests of earlier attempts
  const auto end = run_claimed(job, fleet, attempt, status);
  remove_questions(job.layout, attempt);
  if (end && end->failed.empty()) return end->exit_code;
  if (!end) end_attempt(job.layout, attempt, std::move(status), AttemptEnd::of(end.error()));
  log::warn("fleet: attempt {} of shard {} failed: {}", attempt.number, job.shard,
            end ? end->failed : end.error().message);
  if (failures + 1 < kMostFailures) return kTryElsewhere;
  if (!end) return tl::unexpected(end.error());
  return end->exit_code;
}

}  // namespace

Result<int> run_shard(const ShardJob& job) {
  RZ_TRY_ASSIGN(const Fleet fleet, read_fleet_of(job.layout, job.uid));
  if (job.shard < 1 || job.shard > fleet.shards)
    return usage_error(fmt::format("{}: has no shard {}, of {}", job.layout.root.string(),
                                   job.shard, fleet.shards));
  RZ_TRY_ASSIGN(const auto attempts, read_attempts(job.layout, fleet.uid));
  const Past past = past_of(attempts, job.shard);
  if (past.over) return *past.over;
  if (is_stopped(job.layout)) return kInterrupted;
  return run_attempt(job, fleet, past.failures);
}

}  // namespace redzone::fleet

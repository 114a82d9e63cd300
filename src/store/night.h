// Stored data of a night: a campaign whose time is divided into a self-proof, replays and fuzzing,
// and which is resumed after an interruption. Plain values, and the class that stores them.
//
// Errors are those of the store. A replay that ran, and the final update(), are on the disk when
// the call returns; replays that were not run, and the figures of unfinished nights and of targets,
// are written lazily.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/campaign_record.h"
#include "core/replay_outcome.h"
#include "core/target_counts.h"
#include "core/utc.h"
#include "store/store.h"

namespace redzone::store {

struct NightRun {
  static constexpr int kUnfinished = -1;
  // Unfinished, but merged from another store, where the night is resumed.
  static constexpr int kElsewhere = -2;

  std::int64_t campaign = 0;  // the plans, calls and verdicts are stored with the campaign
  std::string began;          // in the format of utc_now_us()
  std::uint64_t base_seed = 0;
  int shard = 1, shards = 1;
  std::string fleet;   // uid of the fleet that the shard belongs to; "" if none
  std::string commit;  // version under test, as given by the user
  std::string tool_version, driver, toolkit, host;
  double budget_seconds = 0, proof_seconds = 0, replay_seconds = 0, fuzz_seconds = 0;
  std::int64_t planted_bugs_caught = 0;
  int resumed = 0;      // number of resumptions
  std::string problem;  // why the night ended early
  int exit_code = kUnfinished;
  // Names of all targets and plan files of the night, ascending, separated by spaces.
  std::string asked_targets, asked_corpus;

  bool finished() const { return exit_code >= 0; }
  bool operator==(const NightRun&) const = default;
};

struct NightReplay {
  std::string subject;  // the hash of a signature, or the name of a plan file
  std::optional<std::int64_t> finding;
  std::string target;
  std::string expected;  // signature as text, from a plan file
  ReplayOutcome outcome = ReplayOutcome::not_run;
  Reliability failed;
  std::string reason;
  double device_seconds = 0;

  bool operator==(const NightReplay&) const = default;
};

// Its device time is that of fuzzing the target, without replays.
struct NightTarget : TargetCounts {
  std::string target;
  double share = 0;        // planned share of the fuzzing time, 0..1
  std::string not_fuzzed;  // reason why it was not fuzzed; "" if it was

  bool operator==(const NightTarget&) const = default;
};

class NightBook {
 public:
  explicit NightBook(Store& store) : store_(store) {}

  // For a campaign that has begun; an empty `began` is set to the current time.
  Result<void> begin(const NightRun& run);
  Result<void> update(const NightRun& run);
  // Replaces an existing row of the same subject (replayed()) or target (target()).
  Result<void> replayed(std::int64_t campaign, const NightReplay& replay);
  Result<void> target(std::int64_t campaign, const NightTarget& target);
  // Writes the night's progress with the figures of its campaign and targets in one transaction, so
  // that the sums are consistent if the night is killed. Lazy.
  Result<void> keep(const NightRun& run, const CampaignStats& stats,
                    const std::vector<NightTarget>& targets);

  Result<std::vector<NightRun>> runs();  // ordered by campaign
  Result<std::vector<NightReplay>> replays(std::int64_t campaign);
  Result<std::vector<NightTarget>> targets(std::int64_t campaign);
  // Device time of fuzzing each target and of replaying its findings, by target.
  Result<std::map<std::string, double>> device_seconds(std::int64_t campaign);
  // The latest campaign that replayed each subject, by subject.
  Result<std::map<std::string, std::int64_t>> last_replayed();
  // Number of passed replays of the finding, in nights on that device that began after `after` and
  // in which the finding never failed.
  Result<std::int64_t> passed_runs(std::int64_t finding, const std::string& device,
                                   const std::string& after);
  // Findings with stored runs of a bisection.
  Result<std::set<std::int64_t>> bisected();
  // Findings of the campaign, each with the number of plans that showed it.
  Result<std::vector<std::pair<std::int64_t, std::int64_t>>> occurrences(std::int64_t campaign);

 private:
  Store& store_;
};

}  // namespace redzone::store

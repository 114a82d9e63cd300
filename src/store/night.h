// What is kept of a night: a campaign whose time is divided into a self-proof, replays and fuzzing,
// and which goes on where it was cut off. Plain values, and the book that keeps them in a store.
//
// Errors and durability are the store's. Replays are on the disk when replayed() returns; the
// figures of update() and target() are written lazily.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/campaign_record.h"
#include "core/output_count.h"
#include "core/tonight.h"
#include "core/utc.h"
#include "store/store.h"

namespace redzone::store {

struct NightRun {
  static constexpr int kUnfinished = -1;
  // As kUnfinished, of a night that was merged from another store: it goes on there, not here.
  static constexpr int kElsewhere = -2;

  std::int64_t campaign = 0;  // its plans, calls and verdicts are the campaign's
  std::string began;          // as utc_now_us()
  std::uint64_t base_seed = 0;
  int shard = 1, shards = 1;
  std::string commit;  // of what is tested, as it was given
  std::string tool_version, driver, toolkit, host;
  double budget_seconds = 0, proof_seconds = 0, replay_seconds = 0, fuzz_seconds = 0;
  std::int64_t planted_bugs_caught = 0;
  int resumed = 0;      // how often it went on
  std::string problem;  // why it ended early
  int exit_code = kUnfinished;
  // Names of all targets and plan files that it was to see to, ascending, a blank between two.
  std::string asked_targets, asked_corpus;

  bool finished() const { return exit_code >= 0; }
  bool operator==(const NightRun&) const = default;
};

struct NightReplay {
  std::string subject;  // the hash of a signature, or the name of a plan file
  std::optional<std::int64_t> finding;
  std::string target;
  std::string expected;  // signature as text, of a plan file
  Tonight tonight = Tonight::not_run;
  Reliability failed;
  std::string reason;
  double device_seconds = 0;

  bool operator==(const NightReplay&) const = default;
};

struct NightTarget {
  std::string target;
  std::uint64_t plans = 0, calls = 0;
  std::uint64_t pass = 0, fail = 0, inconclusive = 0, not_applicable = 0, harness_errors = 0;
  double device_seconds = 0;  // of its fuzzing
  double share = 0;
  std::string not_fuzzed;         // why
  ReferenceCount reference = {};  // as CampaignStats has it
  std::string not_compared = {};  // why the first call that was not compared was not
  // As campaign::TargetStats has these.
  std::string spec_error = {};
  std::string not_judged = {};
  OutputCount outputs = {};

  bool operator==(const NightTarget&) const = default;
};

class NightBook {
 public:
  explicit NightBook(Store& store) : store_(store) {}

  // Of a campaign that was begun; an empty `began` becomes now.
  Result<void> begin(const NightRun& run);
  Result<void> update(const NightRun& run);
  // Replaces what there is of the same subject or target.
  Result<void> replayed(std::int64_t campaign, const NightReplay& replay);
  Result<void> target(std::int64_t campaign, const NightTarget& target);
  // How far the night has come, with the figures of its campaign and of its targets: all of it or
  // nothing, so that a night that is killed adds up. Lazily.
  Result<void> keep(const NightRun& run, const CampaignStats& stats,
                    const std::vector<NightTarget>& targets);

  Result<std::vector<NightRun>> runs();  // by campaign
  Result<std::vector<NightReplay>> replays(std::int64_t campaign);
  Result<std::vector<NightTarget>> targets(std::int64_t campaign);
  // By target: of its fuzzing, and of the replays of what was seen in it.
  Result<std::map<std::string, double>> device_seconds(std::int64_t campaign);
  // The latest campaign that replayed each subject.
  Result<std::map<std::string, std::int64_t>> last_replayed();
  // How often the finding was replayed and passed, in nights on that device which began after that
  // time and in which it never failed.
  Result<std::int64_t> passed_runs(std::int64_t finding, const std::string& device,
                                   const std::string& after);
  // Findings of which there are runs of a bisection.
  Result<std::set<std::int64_t>> bisected();
  // Plans of the campaign that showed each finding.
  Result<std::vector<std::pair<std::int64_t, std::int64_t>>> occurrences(std::int64_t campaign);

 private:
  Store& store_;
};

}  // namespace redzone::store

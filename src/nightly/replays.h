// The first step of a night: replays the known findings and the plans of the corpus.
#pragma once

#include <chrono>
#include <functional>

#include "campaign/recheck.h"
#include "campaign/shard.h"
#include "engine/quarantine_watch.h"
#include "engine/store_sink.h"
#include "nightly/corpus.h"
#include "nightly/means.h"
#include "store/night.h"

namespace redzone::nightly {

// Borrowed by all steps of one night.
struct NightContext {
  const Means& means;
  store::Store& store;
  store::NightBook& book;
  store::NightRun& run;  // stored after each step
  campaign::Shard shard;
};

class NightReplays {
 public:
  // `until`: when the replays must end, to leave time for the fuzzing.
  NightReplays(NightContext night, std::chrono::steady_clock::time_point until)
      : night_(night),
        quarantines_(night.store, night.means.clock.now),
        until_(until),
        sink_(night.store) {}

  // Replays the subjects of this shard, longest wait first; among equal waits the targets take
  // turns. Each subject is replayed at most once per night. Results are stored in the night and the
  // ledgers at once. Ends early when time is up, on Ctrl-C, or if the device no longer answers:
  // then run.problem has the reason. Returned errors are errors of the store.
  Result<void> run(const std::vector<CorpusPlan>& corpus);

 private:
  struct Todo {
    std::string subject;
    std::int64_t last = 0;  // campaign of its last replay
    int turn = 0;           // index among subjects of its target with the same wait
    std::function<Result<void>()> replay;
    const CorpusPlan* plan = nullptr;  // plan of the corpus; null for a finding
  };

  Result<std::vector<Todo>> todo(const std::vector<CorpusPlan>& corpus);
  Result<void> replay_finding(const Finding& finding);
  Result<void> replay_plan(const CorpusPlan& plan);
  // The row to store for a plan before it has run.
  static store::NightReplay row_of(const CorpusPlan& plan);
  // Records that no time was left for the corpus plans in `left`.
  Result<void> keep_without_turn(std::span<const Todo> left);
  // The target and oracles of a plan, or the reason why it cannot be judged here. runnable() also
  // completes the plan.
  struct Runnable {
    const TargetEntry* entry = nullptr;
    std::vector<const Oracle*> oracles;
    std::string why_not;
  };
  Runnable runnable(Plan& plan, const engine::RecordedPlan& recorded) const;
  // Why observations from that environment's device do not apply here.
  std::string elsewhere(const Environment& environment) const;
  campaign::Recheck recheck(const Runnable& target, const Plan& plan,
                            const std::optional<Signature>& expected, const Reliability& before,
                            std::int64_t passed = 0);
  // Number of passing runs on this device in nights since the last failure.
  Result<std::int64_t> passed_since(const Finding& finding);
  // Stores the result of the recheck in the finding's ledger and updates its state.
  Result<void> enter(const Finding& finding, const campaign::Recheck& seen,
                     const TargetEntry& entry);
  // Stores a failure as a finding of its own, and measures it: one with another signature than the
  // replayed finding, or one that a plan of the corpus showed.
  Result<std::int64_t> record(const campaign::Alarm& alarm, const TargetEntry& entry);
  Result<void> keep(store::NightReplay replay);
  bool ended() const;
  const engine::Site& site() const { return night_.means.site; }
  bool interrupted() const { return night_.means.interrupted(); }
  campaign::Evaluator evaluator_for(const TargetSpec& spec) const;

  NightContext night_;
  engine::QuarantineWatch quarantines_;
  std::chrono::steady_clock::time_point until_;
  engine::StoreSink sink_;
  int lost_in_a_row_ = 0;
};

// Why the device or its workers no longer pass the self-proof; "" if they do.
std::string lost_device(const Means& means);

}  // namespace redzone::nightly

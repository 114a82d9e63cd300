// The first part of a night: what is known, and the plans of the corpus, once more.
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

// Borrowed by the parts of one night.
struct NightContext {
  const Means& means;
  store::Store& store;
  store::NightBook& book;
  store::NightRun& run;  // kept up to date in the book
  campaign::Shard shard;
};

class NightReplays {
 public:
  // `until`: when replaying has to end, for the sake of what comes after.
  NightReplays(NightContext night, std::chrono::steady_clock::time_point until)
      : night_(night),
        quarantines_(night.store, night.means.clock.now),
        until_(until),
        sink_(night.store) {}

  // Of this shard; those that waited longest first, of these one of each target in turn, and none
  // twice in a night. What it shows goes into the book and the ledgers at once. Ends early when
  // time is up, on Ctrl-C, or when the device no longer answers: then run.problem says so. Errors
  // are the store's.
  Result<void> run(const std::vector<CorpusPlan>& corpus);

 private:
  struct Todo {
    std::string subject;
    std::int64_t last = 0;  // the campaign that replayed it last
    int turn = 0;           // its place among those of its target that waited as long
    std::function<Result<void>()> replay;
  };

  Result<std::vector<Todo>> todo(const std::vector<CorpusPlan>& corpus);
  Result<void> replay_finding(const Finding& finding);
  Result<void> replay_plan(const CorpusPlan& plan);
  // Why the plan, which it completes, cannot be judged here; else its target and oracles.
  struct Runnable {
    const TargetEntry* entry = nullptr;
    std::vector<const Oracle*> oracles;
    std::string why_not;
  };
  Runnable runnable(Plan& plan, const std::string& oracle, const std::string& where) const;
  // Why what was seen on that device says nothing here.
  std::string elsewhere(const Environment& environment) const;
  campaign::Recheck recheck(const Runnable& target, const Plan& plan,
                            const std::optional<Signature>& expected, const Reliability& before,
                            std::int64_t passed = 0);
  // Runs that passed here in the nights since it failed last.
  Result<std::int64_t> passed_since(const Finding& finding);
  // What the recheck says of the finding, in its ledger and state.
  Result<void> enter(const Finding& finding, const campaign::Recheck& seen,
                     const TargetEntry& entry);
  // Stores a failure that is not the one that was replayed, or that a plan of the corpus showed, as
  // a finding of its own, and measures it.
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

// The device, or the workers on it, no longer do what the self-proof showed: why; "" when they do.
std::string lost_device(const Means& means);

}  // namespace redzone::nightly

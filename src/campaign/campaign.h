// One fuzz run: generate, screen, triage, until the time or the plans are spent.
//
// Single-threaded; workers do the parallel work. Everything found is in the sink by the time run()
// returns, also when it is stopped.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "campaign/finding_sink.h"
#include "campaign/triage.h"
#include "exec/executor.h"
#include "oracles/catalog.h"

namespace redzone::campaign {

// Where plans come from; never ends.
class PlanSource {
 public:
  virtual ~PlanSource() = default;
  virtual Plan next() = 0;
};

struct TargetUnderTest {
  const TargetSpec* spec = nullptr;  // outlives the campaign
  std::unique_ptr<PlanSource> source;
  store::Environment environment;
};

struct Progress {
  store::CampaignStats stats;
  double seconds_left = -1;                 // < 0: no time limit
  std::optional<std::uint64_t> plans_left;  // of a limit of plans
};

struct CampaignOptions {
  std::int64_t id = 0;                        // in the store
  std::chrono::milliseconds time{0};          // 0: no limit
  std::uint64_t plans_per_target = 0;         // 0: no limit
  std::chrono::milliseconds deadline{10000};  // of each trial
  // Charged to a target for each worker that it took down, so that one that always faults does not
  // starve the others.
  std::chrono::milliseconds fault_cost{50};
  TriageOptions triage;
  std::function<bool()> stop = {};                     // Ctrl-C
  std::function<void(const Progress&)> progress = {};  // about twice a second
};

struct CampaignResult {
  store::CampaignStats stats;
  std::vector<store::Finding> findings;  // those seen in this campaign, in the order of discovery
  std::vector<std::int64_t> new_ids;     // of these, those that nobody had seen before
  bool stopped = false;                  // by stop()
};

class Campaign {
 public:
  Campaign(exec::Executor& executor, const oracles::Catalog& catalog, SimplifyFor simplify,
           FindingSink& sink, std::vector<TargetUnderTest> targets, CampaignOptions options);
  ~Campaign();

  // An error of the sink ends the campaign: what cannot be stored must not be lost silently.
  Result<CampaignResult> run();

 private:
  struct Lane;  // one target
  struct Pending {
    std::size_t lane = 0;
    Plan plan;
    std::vector<TrialSpec> trials;
  };

  void top_up();
  Lane* next_lane();
  Result<void> finish(exec::JobResult result);
  Result<void> suspect(Lane& lane, Suspect suspect);
  Result<void> open_case(Lane& lane, Suspect suspect, const std::string& key);
  void count(const Verdict& verdict);
  bool time_is_up() const;
  bool stopped() const { return options_.stop && options_.stop(); }
  double elapsed_seconds() const;
  // Tells the sink and the progress callback; rarely, unless forced.
  Result<void> report_progress(bool force);

  exec::Executor& executor_;
  const oracles::Catalog& catalog_;
  FindingSink& sink_;
  CampaignOptions options_;
  Triage triage_;
  std::vector<Lane> lanes_;
  std::map<std::uint64_t, Pending> pending_;
  std::vector<std::pair<std::size_t, Suspect>> device_free_suspects_;
  std::uint64_t next_job_ = 1;
  std::chrono::steady_clock::time_point started_;
  std::chrono::steady_clock::time_point last_progress_;
  CampaignResult result_;
};

}  // namespace redzone::campaign

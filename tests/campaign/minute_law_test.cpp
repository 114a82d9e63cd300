// What a minute over many targets gives where workers start slowly and one at a time has the
// device, by the clock of a simulated GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "campaign/counted_plans.h"
#include "campaign/simulated_gpu.h"

namespace redzone::campaign {
namespace {

using namespace testing;
using redzone::testing::faulted;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kMinute{60};
constexpr std::size_t kParts = 6;

// What is wrong with a target.
enum class Wrong : std::uint8_t {
  nothing,
  canary,         // writes past `y`, inside of the mapping
  fault,          // reads past the end, where wide canaries are mapped
  distant_fault,  // reads where nothing is ever mapped
};

Observation trial_of(Wrong wrong, const Plan& plan, const TrialSpec& trial) {
  if (wrong == Wrong::distant_fault || (wrong == Wrong::fault && !trial.wide_canaries))
    return faults_above(64)(plan, trial, {});
  Observation o = all_right(plan, trial);
  if (wrong == Wrong::canary)
    for (auto& call : o.calls) call.buffers.back().dirty_after = 4;
  return o;
}

struct Seen {
  std::uint64_t plans = 0;
  std::size_t parts = 0;  // of the minute, with a plan
  bool minimal = false;
};

class MinuteLaw : public ::testing::Test {
 protected:
  // Names begin with what is wrong with the target.
  void add(std::string name, Wrong wrong, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      specs_.push_back(small_spec());
      specs_.back().name = name + std::to_string(i);
      wrong_[specs_.back().name] = wrong;
    }
  }
  // As the engine sets them for a GPU.
  CampaignOptions options() {
    CampaignOptions options;
    options.time = kMinute;
    options.deadline = seconds(5);
    options.worker_cost = milliseconds(300);
    options.screen_leaves_room = true;
    options.now = [this] { return now_; };
    options.triage.parallel = 8;
    options.triage.batch = 1;
    options.triage.together = 2;
    options.triage.reuse_workers = true;
    options.triage.faults_name_buffers = false;
    options.triage.confirm_runs = 2;
    options.triage.final_runs = 7;
    options.triage.attribution_runs = 1;
    options.triage.reduce_time = seconds(15);
    return options;
  }
  void run() {
    SimulatedGpu gpu(
        [this](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
          return trial_of(wrong_.at(plan.target), plan, trial);
        },
        now_);
    std::vector<TargetUnderTest> targets;
    for (const auto& spec : specs_) {
      seen_[spec.name] = {};
      // Most plans are beyond the size that faults.
      targets.push_back({&spec, std::make_unique<CountedPlans>(spec.name, 60), {}});
    }
    CampaignOptions options = this->options();
    std::map<std::string, std::size_t> part_of;
    options.progress = [&](const Progress& p) {
      const auto part = std::min(
          static_cast<std::size_t>(p.stats.seconds * kParts / kMinute.count()), kParts - 1);
      for (const auto& target : p.targets) {
        Seen& seen = seen_.at(target.target);
        if (target.plans > seen.plans && std::exchange(part_of[target.target], part + 1) <= part)
          ++seen.parts;
        seen.plans = target.plans;
      }
    };
    options.found = [this](const Finding& f, double at) {
      first_confirmed_ = std::min(first_confirmed_, at);
      seen_.at(f.signature.target).minimal |= f.minimal;
    };
    oracles::Catalog catalog;
    RecordingSink sink;
    Campaign campaign(gpu, catalog, real_simplify(), sink, std::move(targets), options);
    const auto result = campaign.run();
    ASSERT_TRUE(result);
    for (const auto& f : result->findings) confirmed_ += was_found(f.state) ? 1 : 0;
  }
  std::size_t minimal() const {
    return static_cast<std::size_t>(std::count_if(
        seen_.begin(), seen_.end(), [](const auto& entry) { return entry.second.minimal; }));
  }

  std::vector<TargetSpec> specs_;
  std::map<std::string, Wrong> wrong_;
  std::map<std::string, Seen> seen_;
  double first_confirmed_ = 1e9;
  std::size_t confirmed_ = 0;
  std::chrono::steady_clock::time_point now_;
};

TEST_F(MinuteLaw, MostFindingsAreMinimalAndNobodyStarves) {
  add("canary", Wrong::canary, 24);
  add("fault", Wrong::fault, 12);
  add("distant", Wrong::distant_fault, 8);
  add("right", Wrong::nothing, 4);
  run();
  EXPECT_EQ(confirmed_, 44u);
  EXPECT_GE(minimal(), 25u);
  EXPECT_LE(first_confirmed_, 2);
  // At least so many plans. Where canaries do not help, each costs a worker that a finding needs.
  const std::map<Wrong, std::uint64_t> least = {
      {Wrong::nothing, 500}, {Wrong::canary, 500}, {Wrong::fault, 50}, {Wrong::distant_fault, 5}};
  for (const auto& [name, seen] : seen_) {
    const Wrong wrong = wrong_.at(name);
    const bool faults = wrong == Wrong::fault || wrong == Wrong::distant_fault;
    EXPECT_GE(seen.plans, least.at(wrong)) << name;
    EXPECT_GE(seen.parts, faults ? 2u : kParts) << name;
  }
}

}  // namespace
}  // namespace redzone::campaign

// A campaign over several targets by a clock that only trials move.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "campaign/campaign.h"
#include "campaign/counted_plans.h"
#include "campaign/fakes.h"
#include "core/spec_mistake.h"

namespace redzone::campaign::testing {

using redzone::testing::ended;
using redzone::testing::faulted;
using std::chrono::milliseconds;
using std::chrono::seconds;

inline constexpr milliseconds kTrial{40};
inline constexpr seconds kTime{400};
inline constexpr std::size_t kTargets = 4;
// What a case costs at most here: so much may a target be ahead of its share.
inline constexpr double kDearest = 5;

// Takes a while and makes none, as a spec does that throws for most dims.
class ThrowingPlans final : public PlanSource {
 public:
  explicit ThrowingPlans(std::chrono::steady_clock::time_point& now) : now_(now) {}
  Plan next() override {
    now_ += milliseconds(30);
    throw SpecMistake(SpecMistake::Kind::of_the_call, "t", "the work function", "threw", "");
  }

 private:
  std::chrono::steady_clock::time_point& now_;
};

class TurnsTest : public ::testing::Test {
 protected:
  TurnsTest() {
    for (std::size_t i = 0; i < kTargets; ++i) {
      specs_.push_back(small_spec());
      specs_.back().name = "t" + std::to_string(i);
    }
    options_.time = kTime;
    options_.deadline = seconds(1);
    options_.now = [this] { return now_; };
    options_.triage.reduce_time = std::chrono::hours(1);
    options_.triage.reduce_evaluations = 60;
    options_.worker_cost = milliseconds(0);  // no time that passes
  }

  // Every trial takes as long; `how` says how those of a target end, and is given the first size.
  using Ends = std::function<Observation(const std::string& target, std::int64_t n)>;
  CampaignResult run(const Ends& how, std::size_t max_in_flight = 8,
                     const std::vector<int>& weights = {1, 1, 1, 1}) {
    FakeExecutor executor([&](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
      Observation o = how(plan.target, get(calls_of(plan).front()->call.dims, "N"));
      const bool right = o.end == End::completed || (trial.wide_canaries && o.end == End::fault);
      if (right) o = all_right(plan, trial);
      const bool takes_long = o.end == End::hang || plan.target == slow_;
      const milliseconds took = takes_long ? milliseconds(options_.deadline) : kTrial;
      now_ += took;
      o.wall_us = std::chrono::duration_cast<std::chrono::microseconds>(took).count();
      return o;
    });
    executor.set_max_in_flight(max_in_flight);
    executor.set_slow(slow_, options_.deadline);
    executor.set_latest_start(latest_start_);
    std::vector<TargetUnderTest> targets;
    for (const auto& spec : specs_) {
      targets.push_back({&spec, std::make_unique<CountedPlans>(spec.name), {}});
      if (spec.name == throwing_) targets.back().source = std::make_unique<ThrowingPlans>(now_);
      targets.back().weight = weights.at(targets.size() - 1);
    }
    Campaign campaign(executor, catalog_, real_simplify(), sink_, std::move(targets), options_);
    auto result = campaign.run();
    EXPECT_TRUE(result) << result.error().message;
    warm_losses_ = executor.warm_losses();
    came_back_ = executor.came_back();
    warm_compared_ = executor.warm_compared();
    most_in_flight_ = executor.most_in_flight();
    fresh_deadlines_ = executor.fresh_deadlines();
    warm_deadlines_ = executor.warm_deadlines();
    return *result;
  }
  std::vector<TargetUnderTest> targets() const {
    std::vector<TargetUnderTest> out;
    for (const auto& spec : specs_)
      out.push_back({&spec, std::make_unique<CountedPlans>(spec.name), {}});
    return out;
  }
  // Nothing is wrong there; what it is given is in the journal.
  std::unique_ptr<FakeExecutor> correct_executor() {
    return std::make_unique<FakeExecutor>(
        [this](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
          now_ += kTrial;
          Observation o = all_right(plan, trial);
          o.wall_us = std::chrono::microseconds(kTrial).count();
          return o;
        },
        &journal_);
  }
  static Observation right() { return ended(End::completed); }
  // Another kernel, so another bug, for each size.
  static Observation fault_in(std::int64_t n) {
    Fault fault = fault_at(0, "x", Access::read, Side::after);
    fault.kernel = "k" + std::to_string(n);
    return faulted(fault);
  }
  std::vector<const Finding*> findings_of(const std::string& target) const {
    std::vector<const Finding*> out;
    for (const auto& [id, f] : sink_.findings)
      if (f.signature.target == target) out.push_back(&f);
    return out;
  }
  static double seconds_in_all(const CampaignResult& result) {
    return std::accumulate(result.targets.begin(), result.targets.end(), 0.0,
                           [](double sum, const auto& t) { return sum + t.device_seconds; });
  }

  std::vector<TargetSpec> specs_;
  std::string throwing_;          // the target without a plan
  std::string slow_;              // the target whose calls take as long as a trial may
  milliseconds latest_start_{0};  // what a worker takes to start
  std::vector<milliseconds> fresh_deadlines_, warm_deadlines_;  // of the last run()
  oracles::Catalog catalog_;
  RecordingSink sink_;
  CampaignOptions options_;
  Journal journal_;
  std::uint64_t warm_losses_ = 0;  // of the last run()
  std::size_t came_back_ = 0;
  std::map<std::string, int> warm_compared_;  // of the last run()
  std::size_t most_in_flight_ = 0;            // of the last run()
  std::chrono::steady_clock::time_point now_;
};

}  // namespace redzone::campaign::testing

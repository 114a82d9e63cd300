// Plans that need preparation: they are prepared ahead of their turn, run in the order of their
// source, and delay no other target. A simulated clock that only trials and waiting advance.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <stdexcept>

#include "campaign/campaign.h"
#include "campaign/compile_ahead.h"
#include "campaign/fakes.h"
#include "core/spec_mistake.h"

namespace redzone::campaign {
namespace {

using namespace testing;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Instant = std::chrono::steady_clock::time_point;

constexpr milliseconds kTrial{40};

std::int64_t size_of(const Plan& plan) {
  return get(calls_of(plan).front()->call.dims, "N");
}

// Sizes 1, 2, 3...; throws in place of each size for which `throws` returns true.
class NumberedPlans final : public PlanSource {
 public:
  NumberedPlans(std::string target, std::function<bool(std::int64_t)> throws)
      : target_(std::move(target)), throws_(std::move(throws)) {}
  Plan next() override {
    const std::int64_t n = ++n_;
    if (throws_ && throws_(n))
      throw SpecMistake(SpecMistake::Kind::of_the_call, target_, "the work function", "threw", "");
    Plan plan = plain_plan({call_of(n % 1024, 16)});
    plan.target = target_;
    return plan;
  }

 private:
  std::string target_;
  std::function<bool(std::int64_t)> throws_;
  std::int64_t n_ = 0;
};

// Prepares all plans in parallel; each takes the time that `takes` returns.
class SlowPreparer final : public Preparer {
 public:
  SlowPreparer(Instant& now, std::function<milliseconds(const Plan&)> takes)
      : now_(now), takes_(std::move(takes)) {}

  std::size_t depth(const TargetSpec& spec) const override { return depths.at(spec.name); }
  Ticket prepare(const Plan& plan) override {
    over_[++last_] = now_ + takes_(plan);
    asked[plan.target].push_back(size_of(plan));
    return last_;
  }
  bool done(Ticket ticket) override {
    const auto it = over_.find(ticket);
    if (it == over_.end() || it->second > now_) return false;
    over_.erase(it);
    return true;
  }
  void wait(milliseconds timeout) override {
    now_ += timeout;
    waited += timeout;
    ++looks;
  }
  void stop() override { ++stops; }

  std::map<std::string, std::size_t> depths;
  std::map<std::string, std::vector<std::int64_t>> asked;  // the sizes, by target
  milliseconds waited{0};
  int looks = 0, stops = 0;

 private:
  Instant& now_;
  std::function<milliseconds(const Plan&)> takes_;
  std::map<Ticket, Instant> over_;
  Ticket last_ = 0;
};

class AheadTest : public ::testing::Test {
 protected:
  AheadTest() {
    for (const char* name : {"quick", "slow"}) {
      specs_.push_back(small_spec());
      specs_.back().name = name;
    }
    preparer_.depths = {{"quick", 0}, {"slow", 4}};
    options_.now = [this] { return now_; };
    options_.preparer = &preparer_;
  }

  CampaignResult run(std::size_t max_in_flight = 2) {
    ran_.clear();
    FakeExecutor executor(
        [&](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
          auto& sizes = ran_[plan.target];
          if (sizes.empty() || sizes.back() != size_of(plan)) sizes.push_back(size_of(plan));
          if (on_trial_) on_trial_(plan);
          now_ += kTrial;
          Observation o = all_right(plan, trial);
          if (plan.target == buggy_)
            o = redzone::testing::faulted(fault_at(0, "x", Access::read, Side::after));
          o.wall_us = std::chrono::microseconds(kTrial).count();
          return o;
        },
        &journal_);
    executor.set_max_in_flight(max_in_flight);
    std::vector<TargetUnderTest> targets;
    for (const auto& spec : specs_) {
      targets.push_back(
          {&spec,
           std::make_unique<NumberedPlans>(spec.name, spec.name == "slow" ? throws_ : nullptr),
           {}});
      targets.back().plans_before = plans_before_;
    }
    Campaign campaign(executor, catalog_, real_simplify(), sink_, std::move(targets), options_);
    auto result = campaign.run();
    EXPECT_TRUE(result) << result.error().message;
    return *result;
  }
  static std::vector<std::int64_t> first(std::size_t n) {
    std::vector<std::int64_t> out(n);
    for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<std::int64_t>(i) + 1;
    return out;
  }

  std::vector<TargetSpec> specs_;
  std::function<bool(std::int64_t)> throws_;
  std::uint64_t plans_before_ = 0;
  std::string buggy_;                          // the target whose trials all fault
  std::function<void(const Plan&)> on_trial_;  // called before each trial
  Journal journal_;
  oracles::Catalog catalog_;
  RecordingSink sink_;
  CampaignOptions options_;
  Instant now_;
  milliseconds takes_{700};
  SlowPreparer preparer_{now_, [this](const Plan&) { return takes_; }};
  std::map<std::string, std::vector<std::int64_t>> ran_;
};

TEST_F(AheadTest, OnlyWhatIsWorthItIsMadeAhead) {
  options_.plans_per_target = 50;
  run();
  EXPECT_EQ(preparer_.asked.count("quick"), 0u);
  EXPECT_EQ(preparer_.asked["slow"], first(50)) << "and no more than may be run";
  EXPECT_EQ(ran_["quick"], first(50));
  EXPECT_EQ(ran_["slow"], first(50));
}

TEST_F(AheadTest, NobodyWaitsForAnothersPlans) {
  options_.time = seconds(100);
  const auto result = run();
  // Four at a time, 0.7 s each, less what the trials of the other target delay.
  EXPECT_LE(static_cast<double>(ran_["slow"].size()), 100 / 0.7 * 4);
  EXPECT_GE(static_cast<double>(ran_["slow"].size()), 0.8 * 100 / 0.7 * 4);
  EXPECT_LT(preparer_.waited, seconds(1)) << "a device that idles";
  const double device_seconds = result.targets[0].device_seconds + result.targets[1].device_seconds;
  EXPECT_GT(device_seconds, 98);
}

TEST_F(AheadTest, WhatIsReadyHasItsShare) {
  options_.time = seconds(100);
  takes_ = milliseconds(10);
  const auto result = run();
  EXPECT_NEAR(result.targets[0].device_seconds, result.targets[1].device_seconds, 2);
}

TEST_F(AheadTest, AloneItIsWaitedFor) {
  specs_.erase(specs_.begin());
  options_.plans_per_target = 6;
  run();
  EXPECT_EQ(ran_["slow"], first(6));
  EXPECT_GE(preparer_.waited, milliseconds(700));
}

TEST_F(AheadTest, TimeEndsAlsoWhereNothingIsEverReady) {
  specs_.erase(specs_.begin());
  options_.time = seconds(30);
  takes_ = std::chrono::hours(1);
  const auto result = run();
  EXPECT_TRUE(ran_.empty());
  EXPECT_NEAR(result.stats.seconds, 30, 1);
}

// Otherwise an idle device would wait for the first plan of the slow target.
TEST_F(AheadTest, TheFirstLookAtATargetThatIsNotReadyStopsNobody) {
  options_.time = seconds(100);
  takes_ = seconds(20);
  run();
  EXPECT_LT(preparer_.waited, seconds(1));
  EXPECT_EQ(ran_["slow"].size(), 16u) << "four at a time, until 80 s";
}

// The wait also delays no triage of other targets' findings.
TEST_F(AheadTest, TheFirstLookAtATargetThatIsNotReadyKeepsNoFindingWaiting) {
  options_.time = seconds(100);
  takes_ = seconds(20);
  buggy_ = "quick";
  run();
  ASSERT_EQ(sink_.findings.size(), 1u);
  EXPECT_EQ(sink_.findings.begin()->second.state, FindingState::confirmed);
  EXPECT_LT(preparer_.waited, seconds(1));
}

// A target that was not ready for long is not compensated at the expense of the others.
TEST_F(AheadTest, WhoWasLongNotReadyDoesNotStarveTheOthers) {
  options_.time = seconds(1000);
  const Instant ready = now_ + seconds(400);
  SlowPreparer preparer(now_, [&](const Plan&) {
    return std::max(milliseconds(1), std::chrono::duration_cast<milliseconds>(ready - now_));
  });
  preparer.depths = preparer_.depths;
  options_.preparer = &preparer;
  Instant last = now_;
  std::chrono::steady_clock::duration longest{0};
  on_trial_ = [&](const Plan& plan) {
    if (plan.target != "quick") return;
    longest = std::max(longest, now_ - last);
    last = now_;
  };
  const auto result = run();
  EXPECT_LT(longest, seconds(5));
  EXPECT_NEAR(result.targets[0].device_seconds, 700, 10);
  EXPECT_NEAR(result.targets[1].device_seconds, 300, 10);
}

TEST_F(AheadTest, CasesThatAreLookedIntoDoNotKeepPreparingWaiting) {
  options_.plans_per_target = 1;
  buggy_ = "quick";
  run();
  const auto fresh = std::count(journal_.begin(), journal_.end(), "fresh");
  EXPECT_GT(fresh, 4);
  EXPECT_GE(preparer_.looks, fresh);
}

TEST_F(AheadTest, AtItsEndNothingIsPreparedAnyMore) {
  options_.time = seconds(2);
  run();
  EXPECT_EQ(preparer_.stops, 1);
}

TEST_F(AheadTest, WhatThrowsHasItsShareAndNoMore) {
  options_.time = seconds(100);
  int made = 0;
  throws_ = [&](std::int64_t) {
    now_ += milliseconds(30);
    ++made;
    return true;
  };
  const auto result = run();
  EXPECT_NEAR(result.targets[0].device_seconds, 50, 5);
  EXPECT_LE(made, static_cast<int>(result.targets[1].harness_errors) + 1)
      << "none is made behind one that was not told";
}

TEST_F(AheadTest, WhatMakingAPlanThrewIsToldInItsTurn) {
  options_.plans_per_target = 20;
  throws_ = [](std::int64_t n) { return n % 3 == 0; };
  const auto result = run();
  EXPECT_EQ(result.targets[1].harness_errors, 6u);
  EXPECT_EQ(result.targets[1].pass, 14u);
  EXPECT_EQ(result.targets[1].plans, 20u);
}

TEST_F(AheadTest, WhatIsBarredIsNotPrepared) {
  options_.time = seconds(10);
  options_.quarantined = [](const std::string& target) { return target == "slow"; };
  run();
  EXPECT_TRUE(preparer_.asked.empty());
  EXPECT_EQ(ran_.count("slow"), 0u);
}

TEST_F(AheadTest, PlansBeforeCountForWhatIsMadeAhead) {
  options_.plans_per_target = 10;
  plans_before_ = 7;
  run();
  EXPECT_EQ(preparer_.asked["slow"], first(3));
  EXPECT_EQ(ran_["slow"], first(3));
}

// Plans run in the order of their source, once each, and never before their preparation has ended.
TEST_F(AheadTest, OrderIsThatOfTheSource) {
  EXPECT_TRUE(rc::check("by depth, max_in_flight and what each takes", [this] {
    const auto takes = *rc::gen::container<std::vector<int>>(40, rc::gen::inRange(0, 3000));
    const auto depth = *rc::gen::inRange<std::size_t>(0, 6);
    const auto max_in_flight = *rc::gen::inRange<std::size_t>(1, 6);
    std::map<std::int64_t, Instant> over;
    SlowPreparer preparer(now_, [&](const Plan& plan) {
      const auto n = size_of(plan);
      const milliseconds took(takes.at(static_cast<std::size_t>(n) % takes.size()));
      over[n] = now_ + took;
      return took;
    });
    preparer.depths = {{"quick", 0}, {"slow", depth}};
    options_.preparer = &preparer;
    options_.plans_per_target = 40;
    on_trial_ = [&](const Plan& plan) {
      if (plan.target == "slow" && depth > 0) RC_ASSERT(over.at(size_of(plan)) <= now_);
    };
    run(max_in_flight);
    RC_ASSERT(ran_["quick"] == first(40));
    RC_ASSERT(ran_["slow"] == first(40));
    RC_ASSERT(over.size() == (depth == 0 ? 0u : 40u));
  }));
}

class CompileAheadTest : public ::testing::Test {
 protected:
  CompileAheadTest() { spec_.needs_nvrtc = true; }

  // Workers whose trials end with the observation that `how` returns.
  CompileAhead make(std::function<Observation(const Plan&)> how) {
    CompileAheadOptions options;
    options.workers = 3;
    options.start = [this, how] {
      ++started_;
      return std::make_unique<FakeExecutor>(
          [this, how](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
            trials_.push_back(trial);
            return how(plan);
          });
    };
    options.knows = [](const TargetSpec& spec) { return spec.name == "t"; };
    return CompileAhead(std::move(options));
  }
  // Prepares one plan, and waits for it.
  static void prepare(CompileAhead& ahead, const std::string& target) {
    Plan plan = plain_plan({call_of(1, 16)});
    plan.target = target;
    const auto ticket = ahead.prepare(plan);
    ahead.wait(milliseconds(0));
    EXPECT_TRUE(ahead.done(ticket));
  }

  TargetSpec spec_ = small_spec();
  int started_ = 0;
  std::vector<TrialSpec> trials_;
  const Plan plan_ = plain_plan({call_of(1, 16)});
};

TEST_F(CompileAheadTest, OnlyWhatIsCompiledAtRunTimeIsMadeAheadWhereItIsKnown) {
  const auto ahead = make([](const Plan&) { return redzone::testing::ended(End::completed); });
  EXPECT_EQ(ahead.depth(spec_), 12u);
  spec_.needs_nvrtc = false;
  EXPECT_EQ(ahead.depth(spec_), 0u);
  spec_.needs_nvrtc = true;
  spec_.name = "of_the_gpu_alone";
  EXPECT_EQ(ahead.depth(spec_), 0u);
}

TEST_F(CompileAheadTest, StartsItsWorkersWithTheFirstPlanOnly) {
  auto ahead = make([](const Plan&) { return redzone::testing::ended(End::completed); });
  ahead.wait(milliseconds(0));
  ahead.stop();
  EXPECT_EQ(started_, 0);
  const auto one = ahead.prepare(plan_);
  const auto two = ahead.prepare(plan_);
  EXPECT_EQ(started_, 1);
  EXPECT_NE(one, two);
  EXPECT_FALSE(ahead.done(one)) << "nobody looked yet";
  ahead.wait(milliseconds(0));
  EXPECT_TRUE(ahead.done(two));
  EXPECT_TRUE(ahead.done(one));
  EXPECT_FALSE(ahead.done(one)) << "forgotten";
  EXPECT_EQ(trials_, std::vector<TrialSpec>(2)) << "each plan once, as it is written";
  EXPECT_EQ(ahead.failures().plans, 0u);
}

TEST_F(CompileAheadTest, AfterAStopItBeginsAnew) {
  auto ahead = make([](const Plan&) { return redzone::testing::ended(End::completed); });
  const auto lost = ahead.prepare(plan_);
  ahead.stop();
  ahead.wait(milliseconds(0));
  EXPECT_FALSE(ahead.done(lost));
  prepare(ahead, "t");
  EXPECT_EQ(started_, 2);
}

TEST_F(CompileAheadTest, WhatFailsAgainAndAgainIsTriedRarely) {
  auto ahead = make([](const Plan& plan) {
    if (plan.target == "hangs") return redzone::testing::ended(End::hang);
    if (plan.target == "exits") return redzone::testing::ended(End::exited);
    if (plan.target == "is killed") return redzone::testing::ended(End::out_of_memory, "killed");
    return redzone::testing::faulted(fault_at(0, "x", Access::read, Side::after));
  });
  for (const char* target : {"hangs", "exits", "is killed", "crashes"}) {
    trials_.clear();
    for (int i = 0; i < 3 + 100; ++i) prepare(ahead, target);
    EXPECT_EQ(trials_.size(), 3u) << target;
    for (int i = 0; i < 1 + 100; ++i) prepare(ahead, target);
    EXPECT_EQ(trials_.size(), 4u) << target;
  }
  EXPECT_EQ(ahead.failures().plans, 4u * 204u);
  EXPECT_EQ(ahead.failures().why, "hangs: hang");
}

TEST_F(CompileAheadTest, WhatFailsNowAndThenIsPreparedAllTheSame) {
  auto ahead = make([this](const Plan&) {
    return redzone::testing::ended(trials_.size() % 3 == 0 ? End::completed : End::hang);
  });
  for (int i = 0; i < 300; ++i) prepare(ahead, "t");
  EXPECT_EQ(trials_.size(), 300u);
  EXPECT_EQ(ahead.failures().plans, 200u);
}

// A trial reports the refusal, too, and the worker survives it.
TEST_F(CompileAheadTest, WhatIsRefusedIsPrepared) {
  auto ahead = make([](const Plan&) {
    Fault refused;
    refused.code = "invalid-launch";
    return redzone::testing::faulted(refused);
  });
  for (int i = 0; i < 10; ++i) prepare(ahead, "t");
  EXPECT_EQ(trials_.size(), 10u);
  EXPECT_EQ(ahead.failures().plans, 0u);
}

TEST_F(CompileAheadTest, WorkersThatCannotRunAPlanSayWhy) {
  auto ahead = make([](const Plan&) {
    Observation seen = redzone::testing::ended(End::worker_error);
    seen.message = "no worker came up\nand much more";
    return seen;
  });
  prepare(ahead, "t");
  prepare(ahead, "t");
  EXPECT_EQ(ahead.failures().plans, 2u);
  EXPECT_EQ(ahead.failures().why, "t: no worker came up");
}

}  // namespace
}  // namespace redzone::campaign

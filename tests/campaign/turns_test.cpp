// How a campaign divides its time over targets when one of them has bug upon bug: by a clock that
// only trials move.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "campaign/turns_case.h"

namespace redzone::campaign {
namespace {

using namespace testing;
using redzone::testing::ended;
using std::chrono::milliseconds;
using std::chrono::seconds;

// A batch of questions about hangs takes many deadlines: it does not keep the campaign from ending.
TEST_F(TurnsTest, TheTimeIsOverrunByOneDeadlineAtMost) {
  const auto begun = now_;
  run([](const std::string&, std::int64_t) { return ended(End::hang); });
  EXPECT_LE(now_ - begun, kTime + 2 * options_.deadline);
}

TEST_F(TurnsTest, ManyFindingsOfOneTargetDoNotEatTheTimeOfTheOthers) {
  const auto result = run([](const std::string& target, std::int64_t n) {
    return target == "t0" ? fault_in(n) : right();
  });
  const double share = std::chrono::duration<double>(kTime).count() / kTargets;
  EXPECT_LE(result.targets[0].device_seconds, share + kDearest);
  for (std::size_t i = 1; i < kTargets; ++i)
    EXPECT_GE(result.targets[i].device_seconds, share - kDearest) << i;
  // Nothing is lost: what there was no time to reduce is listed as it was confirmed.
  const auto findings = findings_of("t0");
  const auto reduced = std::count_if(findings.begin(), findings.end(),
                                     [](const auto* f) { return f->reduction.plans > 0; });
  EXPECT_GE(reduced, 2);
  EXPECT_GT(findings.size(), static_cast<std::size_t>(reduced)) << "there was enough to do";
  EXPECT_EQ(result.findings.size(), findings.size());
}

TEST_F(TurnsTest, WhatIsBarredMeanwhileIsLaunchedNoMore) {
  const auto until = now_ + kTime / 4;
  options_.quarantined = [&](const std::string& target) { return target == "t0" && now_ >= until; };
  auto last = now_;
  const auto result = run([&](const std::string& target, std::int64_t n) {
    if (target == "t0") last = now_;
    return target == "t0" ? fault_in(n) : right();
  });
  // It is asked about twice a second; what is in flight, and asked of the case at hand, is run.
  EXPECT_LE(last - until, seconds(2));
  EXPECT_GT(result.targets[1].plans, result.targets[0].plans);
  EXPECT_EQ(result.findings.size(), findings_of("t0").size()) << "what was seen of it stays";
  for (const auto* f : findings_of("t0"))
    EXPECT_NE(f->reduction.end, ReductionEnd::time) << "no time was over";
}

TEST_F(TurnsTest, WhatIsBarredFromTheStartIsNeverLaunched) {
  options_.time = seconds(20);
  options_.quarantined = [](const std::string& target) { return target != "t3"; };
  const auto result = run([](const std::string& target, std::int64_t) {
    EXPECT_EQ(target, "t3");
    return right();
  });
  EXPECT_GT(result.targets[3].plans, 0u);
}

TEST_F(TurnsTest, ATargetThatThrowsHasItsShareAndNoMore) {
  throwing_ = "t0";
  const auto result = run([](const std::string&, std::int64_t) { return right(); });
  const double share = std::chrono::duration<double>(kTime).count() / kTargets;
  for (std::size_t i = 1; i < kTargets; ++i)
    EXPECT_GE(result.targets[i].device_seconds, share - kDearest) << i;
  EXPECT_GT(result.targets[0].harness_errors, 100u);
}

// Nobody stopped it: the campaign's time was over.
TEST_F(TurnsTest, AReductionThatTheTimeCutOffSaysSo) {
  int cut = 0;
  for (int tenths = 10; tenths < 100; ++tenths) {
    options_.time = milliseconds(100 * tenths);
    now_ = {};
    sink_ = RecordingSink();
    run([](const std::string&, std::int64_t n) { return fault_in(n > 3 ? 4 : n); });
    for (const auto& [id, f] : sink_.findings) {
      EXPECT_NE(f.reduction.end, ReductionEnd::interrupted) << id;
      cut += f.reduction.end == ReductionEnd::time;
    }
  }
  EXPECT_GT(cut, 0);
}

TEST_F(TurnsTest, WhoHasTheGreaterShareMayLookIntoMore) {
  options_.triage.parallel = 1;
  const auto all_faults = [](const std::string& target, std::int64_t n) {
    return target == "t0" || target == "t1" ? fault_in(n) : right();
  };
  const auto result = run(all_faults, 8, {3, 1, 1, 1});
  EXPECT_NEAR(result.targets[0].device_seconds, 3 * result.targets[1].device_seconds, 3 * kDearest);
  const double part = std::chrono::duration<double>(kTime).count() / (kTargets + 2);
  EXPECT_LE(result.targets[0].device_seconds, 3 * part + kDearest);
}

TEST_F(TurnsTest, NobodyIsAheadOfItsShareByMoreThanOneCase) {
  options_.time = seconds(60);
  EXPECT_TRUE(rc::check("by weight, whoever has bugs", [this] {
    const auto weights = *rc::gen::container<std::vector<int>>(kTargets, rc::gen::inRange(1, 5));
    const auto buggy = *rc::gen::container<std::vector<bool>>(kTargets, rc::gen::arbitrary<bool>());
    const auto max_in_flight = *rc::gen::inRange<std::size_t>(1, 12);
    sink_ = RecordingSink();
    const auto result = run(
        [&](const std::string& target, std::int64_t n) {
          return buggy.at(static_cast<std::size_t>(target.back() - '0')) ? fault_in(n) : right();
        },
        max_in_flight, weights);
    // Of those that had something to do all the time.
    double least = 1e9;
    for (std::size_t i = 0; i < kTargets; ++i)
      if (!buggy[i]) least = std::min(least, result.targets[i].device_seconds / weights[i]);
    constexpr double kFirstLook = 3;
    for (std::size_t i = 0; i < kTargets; ++i)
      if (buggy[i])
        RC_ASSERT(result.targets[i].device_seconds <= weights[i] * least + kDearest + kFirstLook);
  }));
}

TEST_F(TurnsTest, TheFirstFindingOfEachTargetIsLookedIntoBeforeASecondOfAny) {
  options_.time = seconds(80);
  run([](const std::string&, std::int64_t n) { return fault_in(n); });
  for (const auto& spec : specs_) {
    const auto findings = findings_of(spec.name);
    EXPECT_TRUE(std::any_of(findings.begin(), findings.end(), [](const auto* f) {
      return f->state == FindingState::confirmed;
    })) << spec.name;
  }
}

// Confirming takes a few runs and reducing many: a user sees all that was found first.
TEST_F(TurnsTest, TheFirstFindingOfEachTargetIsConfirmedBeforeAnyIsReduced) {
  run([](const std::string&, std::int64_t n) { return n > 20 ? fault_in(1) : right(); });
  std::set<std::string> confirmed;
  for (const auto& f : sink_.updates) {
    if (f.reduction.plans > 0) break;
    if (f.state == FindingState::confirmed) confirmed.insert(f.signature.target);
  }
  EXPECT_EQ(confirmed.size(), kTargets);
  for (const auto& [id, f] : sink_.findings) {
    EXPECT_TRUE(f.minimal) << f.signature.text();
    EXPECT_EQ(get(calls_of(f.plan).front()->call.dims, "N"), 21);
  }
}

// How t0's failure depends on load is measured when nobody else needs workers, and the others are
// reduced meanwhile.
TEST_F(TurnsTest, WhatWaitsForIdleWorkersDoesNotKeepTheOthersFromBeingReduced) {
  options_.triage.parallel = 1;
  options_.time = seconds(150);
  slow_ = "t0";
  int run_of_t0 = 0;
  run([&](const std::string& target, std::int64_t n) {
    if (target == "t0") return ++run_of_t0 % 2 == 0 ? fault_in(1) : right();
    return n > 100 ? fault_in(1) : right();
  });
  for (const auto& spec : specs_) {
    if (spec.name == slow_) continue;
    const auto findings = findings_of(spec.name);
    ASSERT_EQ(findings.size(), 1U) << spec.name;
    EXPECT_TRUE(findings[0]->minimal) << spec.name;
  }
}

// Where looking into cases takes nothing from the screen, bug upon bug stops no plans: neither
// those of the others nor its own.
TEST_F(TurnsTest, WhereTheScreenLeavesRoomBothGoOnSideBySide) {
  const auto buggy = [](const std::string& target, std::int64_t n) {
    return target == "t0" ? fault_in(n) : right();
  };
  const auto apart = run(buggy, 2);
  sink_ = RecordingSink();
  now_ = {};
  options_.screen_leaves_room = true;
  const auto beside = run(buggy, 2);
  EXPECT_GT(beside.targets[0].plans, 2 * apart.targets[0].plans);
  const auto reduced = std::count_if(sink_.findings.begin(), sink_.findings.end(),
                                     [](const auto& f) { return f.second.reduction.plans > 0; });
  EXPECT_GE(reduced, 2);
}

// A fault costs what the worker of the screen has mapped and loaded for all targets.
TEST_F(TurnsTest, WhereOneWorkerScreensTargetsThatFaultDoNotKeepLosingIt) {
  options_.screen_leaves_room = true;
  const auto result = run([&](const std::string& target,
                              std::int64_t n) { return target == "t0" ? fault_in(n) : right(); },
                          2);
  EXPECT_GT(result.targets[0].plans, 20u);
  EXPECT_EQ(warm_losses_, 1u);
  EXPECT_EQ(result.targets[0].plans, result.targets[0].fail);
}

// Most of its plans then run where a known fault costs nothing, in the worker of the screen; some
// still show what only a guard page does.
TEST_F(TurnsTest, WhereFaultsCostWorkersATargetWithAKnownOneGoesOnBetweenCanaries) {
  options_.screen_leaves_room = true;
  const auto how = [&](const std::string& target, std::int64_t) {
    return target == "t0" ? fault_in(1) : right();
  };
  const auto apart = run(how, 2);
  EXPECT_EQ(apart.targets[0].between_canaries, 0u) << "workers start at once";
  sink_ = RecordingSink();
  now_ = {};
  options_.triage.reuse_workers = true;
  const auto result = run(how, 2);
  const TargetStats& faulty = result.targets[0];
  EXPECT_GT(faulty.between_canaries, 4 * (faulty.plans - faulty.between_canaries));
  EXPECT_GT(faulty.plans - faulty.between_canaries, 5u);
  EXPECT_EQ(faulty.fail, faulty.plans - faulty.between_canaries);
  EXPECT_EQ(warm_losses_, 1u);
  for (std::size_t i = 1; i < kTargets; ++i) EXPECT_EQ(result.targets[i].between_canaries, 0u);
  EXPECT_EQ(findings_of("t0").size(), 1u);
}

// Where each fresh run counts, one more suspect of a target waits until what was found in the
// others is reduced.
TEST_F(TurnsTest, WhereWorkersAreScarceASecondSuspectComesAfterTheReductionOfOthers) {
  options_.screen_leaves_room = true;
  options_.triage.reuse_workers = true;
  // Two bugs in each target: what is written on either side, by the size.
  FakeExecutor executor([&](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
    now_ += kTrial;
    Observation o = all_right(plan, trial);
    o.wall_us = std::chrono::microseconds(kTrial).count();
    const bool even = get(calls_of(plan).front()->call.dims, "N") % 2 == 0;
    for (auto& call : o.calls)
      (even ? call.buffers.back().dirty_after : call.buffers.back().dirty_before) = 4;
    return o;
  });
  Campaign campaign(executor, catalog_, real_simplify(), sink_, targets(), options_);
  ASSERT_TRUE(campaign.run());
  std::map<std::string, std::size_t> first_reduced;
  std::map<std::string, std::set<std::string>> confirmed;
  std::size_t second_confirmed = sink_.updates.size();
  for (std::size_t i = 0; i < sink_.updates.size(); ++i) {
    const Finding& f = sink_.updates[i];
    if (f.reduction.end != ReductionEnd::none) first_reduced.emplace(f.signature.target, i);
    auto& names = confirmed[f.signature.target];
    names.insert(f.signature.text());
    if (names.size() > 1) second_confirmed = std::min(second_confirmed, i);
  }
  ASSERT_EQ(first_reduced.size(), kTargets);
  ASSERT_LT(second_confirmed, sink_.updates.size()) << "there is a second one";
  for (const auto& [target, at] : first_reduced) EXPECT_LT(at, second_confirmed) << target;
}

// A target that began well has several plans in that worker when its first one faults.
TEST_F(TurnsTest, WhereOneWorkerScreensItIsLostOnceToATargetThatBeginsToFault) {
  specs_.resize(2);
  options_.screen_leaves_room = true;
  const auto result =
      run([](const std::string& target,
             std::int64_t n) { return target == "t0" && n > 10 ? fault_in(n) : right(); },
          2, {9, 1});
  EXPECT_EQ(warm_losses_, 1u);
  EXPECT_GT(came_back_, 0u);
  EXPECT_GT(result.targets[0].fail, 10u) << "what came back is run beside the screen";
  EXPECT_EQ(result.targets[0].plans, result.targets[0].fail + result.targets[0].pass);
}

// What is behind a hang waits for its deadline, and hangs, too, if it is of the same target.
TEST_F(TurnsTest, WhereOneWorkerScreensATargetThatIsNewHasOnePlanThere) {
  options_.screen_leaves_room = true;
  run(
      [](const std::string&, std::int64_t n) {
        Observation hang = ended(End::hang);
        hang.fault = *fault_in(n).fault;
        return hang;
      },
      2);
  EXPECT_LE(warm_losses_, kTargets) << "one of each target";
}

TEST_F(TurnsTest, WhereOneWorkerScreensTimeIsSharedByWeight) {
  options_.screen_leaves_room = true;
  const auto result =
      run([](const std::string&, std::int64_t) { return right(); }, 2, {9, 1, 1, 1});
  double others = 0;
  for (std::size_t i = 1; i < kTargets; ++i) others += result.targets[i].device_seconds;
  EXPECT_NEAR(result.targets[0].device_seconds / others, 9.0 / 3.0, 0.1);
}

// Targets without plans do not count.
TEST_F(TurnsTest, WhereOneWorkerScreensATargetWithoutOthersFillsIt) {
  specs_.resize(2);
  options_.screen_leaves_room = true;
  options_.time = seconds(20);
  options_.quarantined = [](const std::string& target) { return target == "t1"; };
  run([](const std::string&, std::int64_t) { return right(); }, 2);
  EXPECT_EQ(most_in_flight_, 2u);
}

// The first large call of a target is compared whatever it takes: where one worker serves the
// screen, that is done beside it.
TEST_F(TurnsTest, WhereTheScreenLeavesRoomLargeReferencesDoNotHoldItUp) {
  for (auto& spec : specs_) {
    spec.has_reference = true;
    spec.work = [](const Dims&, const Config&) { return 1e9; };
  }
  options_.screen_leaves_room = true;
  options_.time = seconds(20);
  const auto executor = correct_executor();
  Campaign campaign(*executor, catalog_, real_simplify(), sink_, targets(), options_);
  const auto result = campaign.run();
  ASSERT_TRUE(result);
  EXPECT_EQ(journal_.at(0), "submit") << "a plan of another target does not wait";
  EXPECT_GE(std::count(journal_.begin(), journal_.end(), "fresh"), 4) << "each has its first";
  EXPECT_GT(std::count(journal_.begin(), journal_.end(), "submit"), 4);
  EXPECT_EQ(result->stats.pass + result->stats.fail, result->stats.plans);
  EXPECT_TRUE(sink_.findings.empty());
}

// Where used workers are busy with long references, other targets go on in the screen's worker.
TEST_F(TurnsTest, WhereTheScreenLeavesRoomLongReferencesWaitForUsedWorkers) {
  specs_.resize(2);
  specs_[0].has_reference = true;
  specs_[0].work = [](const Dims&, const Config&) { return 2.5e7; };
  options_.screen_leaves_room = true;
  options_.triage.parallel = 1;
  options_.time = seconds(20);
  const auto result = run([](const std::string&, std::int64_t) { return right(); }, 2);
  EXPECT_EQ(result.stats.pass, result.stats.plans);
  EXPECT_GT(result.targets[0].plans, 20u);
  EXPECT_GT(result.targets[1].plans, 20u);
  EXPECT_EQ(warm_compared_["t0"], 0);
}

// Two calls, small ones by themselves, of which every plan of the target consists.
class PairedPlans final : public PlanSource {
 public:
  explicit PairedPlans(std::string target) : target_(std::move(target)) {}
  Plan next() override {
    Plan plan = plain_plan({call_of(n_ % 1024 + 1, 16), call_of(n_ % 1024 + 1, 32)});
    ++n_;
    plan.target = target_;
    return plan;
  }

 private:
  std::string target_;
  std::int64_t n_ = 0;
};

// Also when the worker of the screen has nothing else just now, because the first look at the
// others is over: one such reference would hold up all of them.
TEST_F(TurnsTest, WhereTheScreenLeavesRoomALongReferenceNeverRunsInItsWorker) {
  specs_.resize(2);
  specs_[0].has_reference = true;
  specs_[0].work = [](const Dims&, const Config&) { return 1.5e7; };
  options_.screen_leaves_room = true;
  options_.triage.parallel = 1;
  const auto executor = correct_executor();
  std::vector<TargetUnderTest> targets;
  targets.push_back({&specs_[0], std::make_unique<PairedPlans>(specs_[0].name), {}});
  targets.push_back({&specs_[1], std::make_unique<CountedPlans>(specs_[1].name), {}});
  targets.back().weight = 9;
  Campaign campaign(*executor, catalog_, real_simplify(), sink_, std::move(targets), options_);
  const auto result = campaign.run();
  ASSERT_TRUE(result);
  EXPECT_GT(result->targets[0].plans, 20u);
  EXPECT_GT(result->targets[1].plans, 20u);
  EXPECT_EQ(executor->warm_compared().count("t0"), 0u);
}

// Where all plans are such that they would be screened aside, the worker of the screen serves too,
// and no more plans are made than are run.
TEST_F(TurnsTest, ATargetOfLongReferencesAloneIsScreenedByAllWorkers) {
  specs_.resize(1);
  specs_[0].has_reference = true;
  specs_[0].work = [](const Dims&, const Config&) { return 1.5e7; };
  options_.screen_leaves_room = true;
  options_.time = seconds(20);
  const auto executor = correct_executor();
  std::vector<TargetUnderTest> targets;
  targets.push_back({&specs_[0], std::make_unique<PairedPlans>(specs_[0].name), {}});
  // Barred in its midst: nothing that waits is run any more.
  const auto until = now_ + options_.time / 2;
  options_.quarantined = [&](const std::string&) { return now_ >= until; };
  Campaign campaign(*executor, catalog_, real_simplify(), sink_, std::move(targets), options_);
  const auto result = campaign.run();
  ASSERT_TRUE(result);
  EXPECT_GT(std::count(journal_.begin(), journal_.end(), "submit"), 10);
  EXPECT_GT(std::count(journal_.begin(), journal_.end(), "fresh"), 10);
  EXPECT_LE(now_ - until, seconds(2));
  EXPECT_EQ(result->stats.pass, result->stats.plans);
}

TEST_F(TurnsTest, WhatIsFoundIsToldWhenItIsConfirmedAndWhenItIsReduced) {
  std::vector<std::pair<std::int64_t, bool>> told;
  options_.found = [&](const Finding& f, double seconds) {
    EXPECT_GT(seconds, 0);
    told.emplace_back(f.id, f.reduction.plans > 0);
  };
  run([](const std::string&, std::int64_t n) { return n > 20 ? fault_in(1) : right(); });
  ASSERT_EQ(told.size(), 2 * kTargets);
  for (std::size_t i = 0; i < kTargets; ++i) EXPECT_FALSE(told[i].second);
  for (std::size_t i = kTargets; i < told.size(); ++i) EXPECT_TRUE(told[i].second);
}

TEST_F(TurnsTest, AloneATargetHasAllTheTime) {
  specs_.resize(1);
  const auto result = run([](const std::string&, std::int64_t n) { return fault_in(n); });
  EXPECT_GE(result.targets[0].device_seconds,
            std::chrono::duration<double>(kTime).count() - kDearest);
}

TEST_F(TurnsTest, WhatTargetsTakeByThemselvesIsCountedForEach) {
  FakeExecutor executor([&](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
    now_ += kTrial;
    Observation o = all_right(plan, trial);
    if (plan.target == "t0") o.own_memory = OwnMemory{.blocks = 3, .left_out_blocks = 1};
    return o;
  });
  Campaign campaign(executor, catalog_, real_simplify(), sink_, targets(), options_);
  const auto result = campaign.run();
  ASSERT_TRUE(result);
  EXPECT_GT(result->targets[0].own_memory.blocks, 3u);
  EXPECT_EQ(result->targets[0].own_memory.blocks,
            3 * result->targets[0].own_memory.left_out_blocks);
  EXPECT_EQ(result->targets[1].own_memory, OwnMemory{});
}

}  // namespace
}  // namespace redzone::campaign

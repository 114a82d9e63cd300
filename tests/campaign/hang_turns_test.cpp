// How a campaign divides its time over targets of which one hangs, or seems to.
#include <gtest/gtest.h>

#include <algorithm>

#include "campaign/campaign_case.h"
#include "campaign/hung_calls.h"
#include "campaign/turns_case.h"

namespace redzone::campaign {
namespace {

using namespace testing;
using redzone::testing::ended;
using std::chrono::milliseconds;
using std::chrono::seconds;

// A hang slows down all others: it is ended soon, and then measured at the full deadline.
TEST_F(TurnsTest, WhereTheScreenLeavesRoomAHangIsASuspectSoonAndMeasuredInFull) {
  options_.screen_leaves_room = true;
  options_.triage.hang_deadline = milliseconds(200);
  const auto result = run(
      [](const std::string& target, std::int64_t n) {
        if (target != "t0") return right();
        Observation hang = ended(End::hang);
        hang.fault = *fault_in(n > 0 ? 1 : n).fault;
        return hang;
      },
      2);
  ASSERT_EQ(findings_of("t0").size(), 1u);
  EXPECT_EQ(findings_of("t0")[0]->state, FindingState::confirmed);
  EXPECT_GT(result.targets[0].plans, 20u);
  EXPECT_EQ(warm_deadlines_.front(), options_.triage.hang_deadline);
  EXPECT_EQ(
      std::count(warm_deadlines_.begin(), warm_deadlines_.end(), options_.triage.hang_deadline),
      static_cast<std::ptrdiff_t>(kTargets))
      << "a target that hangs does so in its first plan";
  // Its confirmation, and the measurement of the reduced plan.
  EXPECT_GE(std::count(fresh_deadlines_.begin(), fresh_deadlines_.end(), options_.deadline), 2);
  EXPECT_EQ(fresh_deadlines_.back(), options_.triage.hang_deadline);
}

// Where each worker imports PyTorch, the first call of a kernel that compiles is not ended before.
TEST_F(TurnsTest, NothingIsEndedBeforeItTookAsLongAsAnotherWorkerTakesToStart) {
  options_.screen_leaves_room = true;
  options_.triage.hang_deadline = milliseconds(200);
  for (const milliseconds start : {milliseconds(600), milliseconds(25'000)}) {
    latest_start_ = start;
    sink_ = RecordingSink();
    now_ = {};
    run([](const std::string& target,
           std::int64_t) { return target == "t0" ? ended(End::hang) : right(); },
        2);
    const auto least = std::min(start, options_.deadline);
    for (const auto& all : {warm_deadlines_, fresh_deadlines_}) {
      ASSERT_FALSE(all.empty());
      EXPECT_EQ(*std::min_element(all.begin(), all.end()), least);
    }
  }
}

// What only takes long is no hang: the plan is screened again, and further ones are given the time.
TEST_F(TurnsTest, WhereTheScreenLeavesRoomWhatWasOnlySlowIsScreenedAgain) {
  options_.screen_leaves_room = true;
  options_.triage.hang_deadline = milliseconds(200);
  slow_ = "t0";
  const auto result = run([](const std::string&, std::int64_t) { return right(); }, 2);
  ASSERT_EQ(findings_of("t0").size(), 1u);
  EXPECT_EQ(findings_of("t0")[0]->state, FindingState::unconfirmed);
  EXPECT_GT(result.targets[0].pass, 20u);
  EXPECT_EQ(result.targets[0].fail, 1u) << "its first plan";
  EXPECT_EQ(result.stats.new_findings, 0u);
}

class HangTurns : public TurnsTest {
 protected:
  // t0 hangs with one size.
  void run_with_hang() {
    hung_.clear();
    sink_ = RecordingSink();
    now_ = {};
    run([&](const std::string& target, std::int64_t n) {
      if (target != "t0" || n != 9) return right();
      hung_.push_back(now_.time_since_epoch());
      return ended(End::hang);
    });
    ASSERT_EQ(findings_of("t0").size(), 1u);
    EXPECT_TRUE(was_found(findings_of("t0")[0]->state));
  }
  auto hung_between(std::chrono::nanoseconds from, std::chrono::nanoseconds to) const {
    return std::count_if(hung_.begin(), hung_.end(),
                         [&](const auto at) { return at >= from && at < to; });
  }

  std::vector<std::chrono::nanoseconds> hung_;  // when trials of t0 hung
};

// It is confirmed long before the end, and then waits for the share of hangs.
TEST_F(HangTurns, WhereNoCaseWaitsOneIsConfirmedAsSoonAsItsShareOfTheTimePaysForIt) {
  run_with_hang();
  EXPECT_GT(hung_between(kTime / 20, kTime / 4), options_.triage.confirm_runs);
  EXPECT_EQ(hung_between(kTime / 4, kTime * 3 / 4), 0);
  EXPECT_GT(hung_between(kTime * 3 / 4, kTime), options_.triage.confirm_runs);
}

TEST_F(HangTurns, OfATargetByItselfOneIsConfirmedOnceAsMuchTimeHasPassed) {
  specs_.resize(1);
  run_with_hang();
  EXPECT_GT(hung_between(seconds(options_.triage.confirm_runs + 1), kTime / 20),
            options_.triage.confirm_runs);
}

// There a hang slows down all other plans.
TEST_F(HangTurns, WhereTheScreenLeavesRoomNoneIsEarly) {
  options_.screen_leaves_room = true;
  for (const std::size_t targets : {kTargets, std::size_t{1}}) {
    specs_.resize(targets);
    run_with_hang();
    EXPECT_LT(hung_between(kTime / 20, kTime / 2), options_.triage.confirm_runs) << targets;
  }
}

TEST(HungCalls, AreKnownByTheirDimsAndByAValueWithWhichNoneEnds) {
  HungCalls hung;
  EXPECT_TRUE(hung.empty());
  for (std::int64_t n = 10; n < 17; ++n) hung.note_ended(call_of(n, 16));
  hung.note_hung(call_of(5, 16));
  EXPECT_TRUE(hung.may_hang(call_of(5, 16)));
  EXPECT_FALSE(hung.may_hang(call_of(5, 32))) << "few values of N are known to end";
  hung.note_ended(call_of(17, 32));
  EXPECT_TRUE(hung.may_hang(call_of(5, 32))) << "no call with N = 5 has ended";
  EXPECT_FALSE(hung.may_hang(call_of(9, 16))) << "one with C = 16 has";
  EXPECT_FALSE(hung.may_hang(call_of(9, 64)));
  hung.note_ended(call_of(5, 64));
  EXPECT_FALSE(hung.may_hang(call_of(5, 32)));
  EXPECT_TRUE(hung.may_hang(call_of(5, 16)));
}

// Of two values of a dim the one that hung first is not left out for good.
TEST(HungCalls, NeverAreAllOfADimWithFewValues) {
  HungCalls hung;
  for (std::int64_t n = 10; n < 100; ++n) hung.note_ended(call_of(n, 32));
  hung.note_hung(call_of(50, 16));
  EXPECT_FALSE(hung.may_hang(call_of(51, 16)));
}

TEST(HungCalls, AreNoneThatEndAsWellOrWereOnlySlow) {
  HungCalls hung;
  hung.note_hung(call_of(5, 16));
  hung.note_ended(call_of(5, 16));
  EXPECT_TRUE(hung.empty());
  EXPECT_FALSE(hung.may_hang(call_of(5, 16)));
  hung.note_hung(call_of(6, 16));
  hung.forget_hung();
  EXPECT_TRUE(hung.empty());
  EXPECT_FALSE(hung.may_hang(call_of(6, 16)));
}

// Nearly every plan has a call that would hang.
TEST_F(CampaignTest, ATargetThatHangsAtSomeSizesIsScreenedAtTheOthers) {
  options_.plans_per_target = 600;
  options_.hang_names_call = true;
  const auto result = run(
      [](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
        for (const auto& [index, call] : calls_of_trial(plan, trial)) {
          if (get(call.dims, "N") % 64 != 5) continue;
          Observation hang = ended(End::hang);
          hang.fault = Fault{.code = "hang", .call = index};
          return hang;
        }
        return all_right(plan, trial);
      },
      generated());
  ASSERT_EQ(sink_.findings.size(), 1u);
  EXPECT_GT(result.targets[0].hung_calls, 20u);
  EXPECT_LT(result.stats.fail, 100u);
  EXPECT_GT(result.stats.pass, 450u);
}

TEST_F(TurnsTest, ManyHangsOfOneTargetWaitForItsTurn) {
  const auto result = run([](const std::string& target, std::int64_t n) {
    if (target != "t0") return right();
    Observation hang = ended(End::hang);
    hang.fault = *fault_in(n).fault;
    return hang;
  });
  const double share = std::chrono::duration<double>(kTime).count() / kTargets;
  for (std::size_t i = 1; i < kTargets; ++i)
    EXPECT_GE(result.targets[i].device_seconds, share - kDearest) << i;
  EXPECT_NEAR(seconds_in_all(result), std::chrono::duration<double>(kTime).count(), kDearest);
}

}  // namespace
}  // namespace redzone::campaign

#include "campaign/alarm.h"

#include <gtest/gtest.h>

#include "campaign/fakes.h"

namespace redzone::campaign {
namespace {

using namespace testing;

// Fails like `bug` in every second trial, beginning with the first.
Bug every_second(Bug bug) {
  return [bug = std::move(bug), n = 0](const Plan& plan, const TrialSpec& trial,
                                       const std::vector<Call>& before) mutable {
    return n++ % 2 == 0 ? bug(plan, trial, before) : all_right(plan, trial);
  };
}

class AlarmTest : public ::testing::Test {
 protected:
  Finding suspect() {
    Finding f;
    f.plan = f.original = plain_plan({call_of(65, 16)});
    Evaluator evaluator(executor_, spec_, std::chrono::seconds(10));
    const Verdict verdict = evaluator.ask(*catalog_.find("fault"), f.plan).verdict;
    f.signature = verdict.signature;
    f.oracle = verdict.oracle;
    f.id = sink_.record(f)->id;
    return f;
  }
  Finding measured(Bug bug) {
    FakeExecutor executor(std::move(bug));
    Evaluator evaluator(executor, spec_, std::chrono::seconds(10));
    const auto finding = measure_suspect(evaluator, catalog_, sink_, suspect());
    EXPECT_TRUE(finding);
    return *finding;
  }

  const TargetSpec spec_ = small_spec();
  oracles::Catalog catalog_;
  RecordingSink sink_;
  FakeExecutor executor_{faults_above(64)};
};

// Stopping at the first failure would give 1 of 1.
TEST_F(AlarmTest, CountsAFixedNumberOfRuns) {
  const auto f = measured(every_second(faults_above(64)));
  EXPECT_EQ(f.reliability, (Reliability{2, 4}));
  EXPECT_EQ(f.state, FindingState::flaky);
  EXPECT_EQ(sink_.findings.at(f.id).reliability, f.reliability);
}

TEST_F(AlarmTest, ConfirmsWhatFailsInEveryRun) {
  const auto f = measured(faults_above(64));
  EXPECT_EQ(f.reliability, (Reliability{4, 4}));
  EXPECT_EQ(f.state, FindingState::confirmed);
}

TEST_F(AlarmTest, LeavesWhatDoesNotRecurASuspect) {
  const auto f = measured(faults_above(1000));
  EXPECT_EQ(f.state, FindingState::suspect);
  EXPECT_EQ(sink_.findings.at(f.id).state, FindingState::suspect);
}

TEST_F(AlarmTest, StoresAnAlarmAsAFindingOfItsOwn) {
  const Finding known = suspect();
  Alarm alarm;
  alarm.plan = plain_plan({call_of(70, 16)});
  alarm.verdict.outcome = Outcome::fail;
  alarm.verdict.oracle = "fault";
  alarm.verdict.signature = known.signature;
  alarm.verdict.signature.buffer = "";
  Finding found_in;
  found_in.campaign = 7;
  Evaluator evaluator(executor_, spec_, std::chrono::seconds(10));
  const auto f = record_alarm(evaluator, catalog_, sink_, alarm, found_in);
  ASSERT_TRUE(f);
  EXPECT_NE(f->id, known.id);
  EXPECT_EQ(f->campaign, 7);
  EXPECT_EQ(f->plan, alarm.plan);
  EXPECT_EQ(f->state, FindingState::confirmed);
}

}  // namespace
}  // namespace redzone::campaign

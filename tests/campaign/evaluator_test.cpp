// How oracles judge plans, and how the plan that a worker really ran is rebuilt.
#include "campaign/evaluator.h"

#include <gtest/gtest.h>

#include "campaign/attribution.h"
#include "campaign/fakes.h"
#include "campaign/history.h"
#include "campaign/run_judgement.h"
#include "core/contention.h"

namespace redzone::campaign {
namespace {

using namespace testing;
using redzone::testing::ended;

class EvaluatorTest : public ::testing::Test {
 protected:
  const Oracle& oracle(const char* name) { return *catalog_.find(name); }

  const TargetSpec spec_ = small_spec();
  const Plan plan_ = plain_plan({call_of(65, 16)});
  oracles::Catalog catalog_;
  FakeExecutor executor_{faults_above(64)};
  Evaluator evaluator_{executor_, spec_, std::chrono::seconds(10)};
};

TEST_F(EvaluatorTest, SharesATrialThatTwoOraclesWant) {
  const std::vector<Question> questions{{&oracle("fault"), plan_}, {&oracle("redzone"), plan_}};
  const auto answers = evaluator_.ask(questions);
  EXPECT_EQ(executor_.trials(), 1u);
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(answers[0].verdict.outcome, Outcome::fail);
  EXPECT_EQ(answers[1].verdict.outcome, Outcome::inconclusive);
}

TEST_F(EvaluatorTest, RunsAQuestionThatIsAskedTwiceTwice) {
  const std::vector<Question> questions(3, Question{&oracle("fault"), plan_});
  evaluator_.ask(questions);
  EXPECT_EQ(executor_.trials(), 3u);
}

// Other work that keeps the device busy has a stream of its own.
TEST_F(EvaluatorTest, OnlyPlansThatUseOneStreamCanDoWithOneQueue) {
  Plan two_streams = plan_, contended = plan_;
  std::get<CallStep>(two_streams.steps.front()).stream = 1;
  contended.mode.schedule_seed = kContendedSeed;
  evaluator_.ask(oracle("fault"), plan_);
  evaluator_.set_one_queue(true);
  evaluator_.ask(oracle("fault"), plan_);
  evaluator_.ask(oracle("fault"), two_streams);
  evaluator_.ask(oracle("fault"), contended);
  evaluator_.set_seeds_decide_contention(true);
  evaluator_.ask(oracle("fault"), plan_);
  evaluator_.ask(oracle("fault"), contended);
  EXPECT_EQ(executor_.one_queue(), (std::vector<bool>{false, true, false, true, true, false}));
}

TEST_F(EvaluatorTest, RunsATrialThatOneOracleWantsTwiceTwice) {
  const Answer answer = evaluator_.ask(oracle("uninitialized"), plan_);
  EXPECT_EQ(answer.trials.size(), 4u);
  EXPECT_EQ(executor_.trials(), 4u);
}

// Blocking a launch requires a loaded kernel; an earlier trial in the same worker loads it.
TEST_F(EvaluatorTest, RunsTheTrialsOfAsyncInOneWorkerABlockingOneFirst) {
  Plan plan = plan_;
  plan.mode.launch = Launch::gated;
  std::vector<Launch> launches;
  std::vector<std::size_t> calls_before;
  FakeExecutor executor(
      [&](const Plan& p, const TrialSpec& trial, const std::vector<Call>& before) {
        launches.push_back(trial.mode.launch);
        calls_before.push_back(before.size());
        return all_right(p, trial);
      });
  Evaluator evaluator(executor, spec_, std::chrono::seconds(10));
  evaluator.ask(oracle("async"), plan);
  ASSERT_EQ(launches.size(), 16u);
  EXPECT_EQ(launches[0], Launch::blocking);
  EXPECT_EQ(launches[1], Launch::gated);
  for (std::size_t t = 0; t < calls_before.size(); ++t) EXPECT_EQ(calls_before[t], t);
  launches.clear();
  calls_before.clear();
  evaluator.ask(oracle("repetition"), plan);
  for (const auto calls : calls_before) EXPECT_EQ(calls, 0u) << "in a worker of its own";
}

TEST_F(EvaluatorTest, AsksNoDeviceWhereTheOracleNeedsNone) {
  EXPECT_TRUE(evaluator_.ask(oracle("launch-config"), plan_).trials.empty());
  EXPECT_EQ(executor_.trials(), 0u);
}

TEST_F(EvaluatorTest, CountsOnlyTheSameBug) {
  Signature other = evaluator_.ask(oracle("fault"), plan_).verdict.signature;
  const auto same = run_repeatedly(evaluator_, oracle("fault"), plan_, other, 5);
  EXPECT_EQ(same.reliability, (Reliability{5, 5}));
  other.buffer = "y";
  const auto none = run_repeatedly(evaluator_, oracle("fault"), plan_, other, 5);
  EXPECT_EQ(none.reliability, (Reliability{0, 5}));
}

TEST_F(EvaluatorTest, AttributesNothingToAModeWithoutADevice) {
  EXPECT_TRUE(attribute(evaluator_, catalog_, oracle("launch-config"), plan_, {}, {}).empty());
}

TEST_F(EvaluatorTest, LeavesOutTheAxisThatTheOracleVaries) {
  Signature signature;
  signature.kind = FailKind::async;
  Plan plan = plan_;
  plan.mode.launch = Launch::gated;  // the oracle does not apply to a blocking plan
  const auto rows =
      attribute(evaluator_, catalog_, oracle("async"), plan, signature, {.first_runs = 1});
  EXPECT_FALSE(rows.empty());
  for (const auto& row : rows) {
    EXPECT_NE(row.axis, "launch");
    EXPECT_NE(row.axis, "schedule") << "its trials are under many of them";
  }
}

// Stale memory fails in recycled buffers, a missing wait fails once launches do not block. Both
// show as faults of the same kernel at the same buffer.
TEST(Attribution, TellsTwoMechanismsApartThatLookTheSame) {
  const auto fault = faults_above(0);
  FakeExecutor executor([fault](const Plan& plan, const TrialSpec& trial, const auto& before) {
    const bool fails =
        trial.mode.allocator == Allocator::caching || trial.mode.launch != Launch::blocking;
    return fails ? fault(plan, trial, before) : faults_above(1 << 20)(plan, trial, before);
  });
  const TargetSpec spec = small_spec();
  const oracles::Catalog catalog;
  Evaluator evaluator(executor, spec, std::chrono::seconds(10));
  Plan plan = plain_plan({call_of(65, 16)});
  plan.mode = with_allocator(plan.mode, Allocator::caching);
  plan.mode.launch = Launch::blocking;
  const Oracle& oracle = *catalog.find("fault");
  const Signature signature = evaluator.ask(oracle, plan).verdict.signature;
  const auto rows =
      attribute(evaluator, catalog, oracle, plan, signature, {.first_runs = 2, .runs = 4});
  const auto counted = [&](const char* axis, const char* value) {
    for (const auto& row : rows)
      if (row.axis == axis && row.value == value) return row.failed;
    return Reliability{};
  };
  EXPECT_EQ(counted("allocator", "caching"), (Reliability{2, 2}));
  EXPECT_EQ(counted("allocator", "guard"), (Reliability{0, 4}));
  EXPECT_EQ(counted("launch", "async"), (Reliability{2, 2}));
  EXPECT_EQ(counted("allocator, launch", "guard, async"), (Reliability{2, 2}));
  EXPECT_EQ(counted("placement, launch", "guard_before, async"), Reliability{});
}

TEST(SameBug, OfAMissingOrderIsThatOfOneBufferWhicheverTwoOperationsShowIt) {
  Signature a;
  a.kind = FailKind::order;
  a.target = "t";
  a.where = "count, emit";
  a.buffer = "counter";
  Signature b = a;
  b.where = "emit, count";
  EXPECT_TRUE(same_bug(a, b));
  b.buffer = "other";
  EXPECT_FALSE(same_bug(a, b));
}

TEST(SameBug, AllowsForWhatOneOfThemDoesNotKnow) {
  Signature a;
  a.kind = FailKind::illegal_access;
  a.target = "t";
  a.where = "k";
  a.buffer = "x";
  Signature b = a;
  b.where = "";
  EXPECT_TRUE(same_bug(a, b));
  b.where = "other";
  EXPECT_FALSE(same_bug(a, b));
  b = a;
  b.kind = FailKind::fault;
  EXPECT_FALSE(same_bug(a, b));
  b = a;
  b.target = "u";
  EXPECT_FALSE(same_bug(a, b));
  b = a;
  b.side = "after";
  EXPECT_TRUE(same_bug(a, b));
}

TEST(History, WritesAReorderedTrialOutAsAPlan) {
  const Plan plan = busy_plan({call_of(10, 16), call_of(20, 32)});
  TrialSpec trial;
  trial.mode.placement = Placement::guard_before;
  EXPECT_EQ(as_run(plan, trial).steps, plan.steps);
  EXPECT_EQ(as_run(plan, trial).mode, trial.mode);
  trial.order = {1, 0};
  const auto calls = calls_of(plan);
  const Plan reordered = as_run(plan, trial);
  ASSERT_EQ(reordered.steps.size(), 2u);
  EXPECT_EQ(std::get<CallStep>(reordered.steps[0]), (CallStep{calls[1]->call, 1, 0}));
  EXPECT_EQ(std::get<CallStep>(reordered.steps[1]), (CallStep{calls[0]->call, 1, 0}));
}

exec::LoggedJob logged(Plan plan, std::vector<TrialSpec> trials = {{}}) {
  return {std::make_shared<const Plan>(std::move(plan)), std::move(trials)};
}

TEST(History, PutsTheCallsToTheSameTargetInFront) {
  exec::WorkerLog log;
  log.push_back(logged(plain_plan({call_of(1, 16)})));
  Plan stranger = plain_plan({call_of(2, 16)});
  stranger.target = "u";
  log.push_back(logged(stranger));
  log.push_back(logged(plain_plan({call_of(3, 16)})));
  log.push_back(logged(plain_plan({call_of(4, 16)})));  // ran later
  const std::vector<Plan> earlier{plain_plan({call_of(5, 16)})};
  EXPECT_EQ(with_history(plain_plan({call_of(6, 16)}), log, 3, earlier),
            plain_plan({call_of(1, 16), call_of(3, 16), call_of(5, 16), call_of(6, 16)}));
}

TEST(History, HasTheCallsOfEachTrialInItsOrder) {
  TrialSpec reversed;
  reversed.order = {1, 0};
  const exec::WorkerLog log{logged(plain_plan({call_of(1, 16), call_of(2, 16)}), {{}, reversed})};
  EXPECT_EQ(
      with_history(plain_plan({call_of(3, 16)}), log, 1, {}),
      plain_plan({call_of(1, 16), call_of(2, 16), call_of(2, 16), call_of(1, 16), call_of(3, 16)}));
}

// The numbers of their graphs could collide with those of the plan.
TEST(History, RunsTheGraphsOfEarlierPlansPlainly) {
  Plan graph = plain_plan({call_of(1, 16)});
  std::get<CallStep>(graph.steps[0]).graph = 1;
  graph.steps.emplace_back(ReplayStep{1, 3});
  TrialSpec trial;
  trial.mode = graph.mode;
  EXPECT_EQ(as_run(graph, trial), graph);
  trial.plain_graphs = true;
  EXPECT_EQ(as_run(graph, trial), plain_plan({call_of(1, 16), call_of(1, 16)}));

  const Plan all = with_history(graph, {}, 0, std::vector<Plan>{graph});
  ASSERT_EQ(all.steps.size(), 4u);
  EXPECT_EQ(std::get<CallStep>(all.steps[1]).graph, 0);
  EXPECT_EQ(all.steps[2], graph.steps[0]);
  EXPECT_EQ(all.steps[3], graph.steps[1]);
}

TEST(History, LeavesOutTheMiddleOfALongOne) {
  exec::WorkerLog log;
  const auto most = static_cast<std::int64_t>(kMaxSteps);
  for (std::int64_t n = 0; n < most; ++n) log.push_back(logged(plain_plan({call_of(n, 16)})));
  const Plan all = with_history(plain_plan({call_of(-1, 16)}), log, log.size(), {});
  ASSERT_EQ(all.steps.size(), kMaxSteps);
  const auto size_at = [&](std::size_t i) {
    return get(std::get<CallStep>(all.steps[i]).call.dims, "N");
  };
  EXPECT_EQ(size_at(0), 0);
  EXPECT_EQ(size_at(kMaxSteps - 2), most - 1);
  EXPECT_EQ(size_at(kMaxSteps - 1), -1);
}

// Each further trial of a hanging plan would cost its deadline, too.
TEST_F(EvaluatorTest, ARunThatHangsIsAskedOneTrial) {
  FakeExecutor executor(
      [](const Plan&, const TrialSpec&, const std::vector<Call>&) { return ended(End::hang); });
  Evaluator evaluator(executor, spec_, std::chrono::seconds(10));
  const auto runs = ask_runs(evaluator, catalog_.all(), plan_, std::nullopt, 3);
  EXPECT_EQ(executor.trials(), 3u);
  ASSERT_EQ(runs.size(), 3u);
  for (const auto& run : runs) {
    EXPECT_EQ(run.judgement.result, RunResult::recorded);
    EXPECT_EQ(run.judgement.verdict.signature.kind, FailKind::hang);
    EXPECT_EQ(run.answers[run.judgement.answer].verdict.signature.kind, FailKind::hang);
  }
}

TEST_F(EvaluatorTest, ARunThatEndsIsPutToAllOracles) {
  const auto oracles = catalog_.all();
  FakeExecutor executor([](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
    return all_right(plan, trial);
  });
  Evaluator evaluator(executor, spec_, std::chrono::seconds(10));
  const auto runs = ask_runs(evaluator, oracles, plan_, std::nullopt, 2);
  ASSERT_EQ(runs.size(), 2u);
  for (const auto& run : runs) {
    ASSERT_EQ(run.answers.size(), oracles.size());
    for (std::size_t o = 0; o < oracles.size(); ++o)
      EXPECT_EQ(run.answers[o].verdict.oracle, oracles[o]->name());
    EXPECT_EQ(run.judgement.result, RunResult::pass);
  }
}

}  // namespace
}  // namespace redzone::campaign

#include "bisect/prober.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "bisect/decision.h"
#include "bisect/fakes.h"

namespace redzone::bisect {
namespace {

using testing::call_step;
using testing::FakeRunner;
using testing::sample_plan;

bool large(const Plan& plan) {
  return get(calls_of(plan).front()->call.dims, "T") > 64;
}

const Plan kAboveLimit = sample_plan({call_step(128, 1)});
const Plan kBelowLimit = sample_plan({call_step(64, 1)});

TEST(Counts, ComeToWhatTheRankingOfRunsSays) {
  EXPECT_EQ((Counts{.same = 1, .passed = 3}).result(), RunResult::recorded);
  EXPECT_EQ((Counts{.other = 1, .passed = 3}).result(), RunResult::other);
  EXPECT_EQ((Counts{.passed = 3, .unjudged = 1, .errors = 1}).result(), RunResult::harness_error);
  EXPECT_EQ((Counts{.passed = 3, .unjudged = 1}).result(), RunResult::pass);
  EXPECT_EQ((Counts{.unjudged = 1}).result(), RunResult::not_judged);
}

TEST(Prober, DecidesWhatAlwaysFailsByOneRun) {
  FakeRunner runner(large);
  Prober prober(runner, {});
  EXPECT_EQ(prober.calibrate(kAboveLimit, 0.001).answer, Answer::fails);
  const auto before = runner.runs;
  const Plan other = sample_plan({call_step(256, 1)});
  const Probe probe = prober.ask(other);
  EXPECT_EQ(probe.answer, Answer::fails);
  EXPECT_EQ(runner.runs - before, 1);
}

TEST(Prober, RunsWhatPassesUntilALuckyPassIsUnlikely) {
  FakeRunner always(large), seldom(large, 0.1);
  Prober a(always, {}), b(seldom, {});
  ASSERT_EQ(a.calibrate(kAboveLimit, 0.001).answer, Answer::fails);
  ASSERT_EQ(b.calibrate(kAboveLimit, 0.001).answer, Answer::fails);
  const Probe sure = a.ask(kBelowLimit), rare = b.ask(kBelowLimit);
  EXPECT_EQ(sure.answer, Answer::passes);
  EXPECT_EQ(rare.answer, Answer::passes);
  EXPECT_GE(sure.counts.passed, 5);
  EXPECT_GE(rare.counts.passed, 50);
}

TEST(Prober, MeasuresARareFailureUntilItIsKnownWell) {
  FakeRunner runner(large, 0.05, 3);
  Prober prober(runner, {});
  const Probe base = prober.calibrate(kAboveLimit, 0.001);
  ASSERT_EQ(base.answer, Answer::fails);
  EXPECT_GE(base.counts.same, 3);
  EXPECT_GT(prober.rates().p1, 0.005);
  EXPECT_LT(prober.rates().p1, 0.1);
}

TEST(Prober, SaysThatThereIsNothingToBisect) {
  FakeRunner runner(large);
  Prober prober(runner, {.runs_of_a_plan = 30});
  EXPECT_EQ(prober.calibrate(kBelowLimit, 0.001).answer, Answer::passes);
  EXPECT_EQ(runner.runs, 30);
}

TEST(Prober, AsksTheSamePlanOnce) {
  FakeRunner runner(large);
  Prober prober(runner, {});
  prober.calibrate(kAboveLimit, 0.001);
  const std::vector<Plan> twice{kBelowLimit, kBelowLimit};
  const auto first = prober.ask(twice);
  const auto runs = runner.runs;
  EXPECT_EQ(first[0].counts, first[1].counts);
  prober.ask(twice);
  EXPECT_EQ(runner.runs, runs);
}

TEST(Prober, GoesOnFromWhatWasRecorded) {
  Memory memory;
  const Record record = [&](const Plan& plan, const Counts& counts) -> Result<void> {
    memory[plan_hash(plan)].add(counts);
    return {};
  };
  FakeRunner runner(large);
  {
    // The budget ends before there are enough passes to decide.
    Prober prober(runner, {.runs = 9}, {}, record);
    prober.calibrate(kAboveLimit, 0.001);
    EXPECT_EQ(prober.ask(kBelowLimit).answer, Answer::undecided);
    EXPECT_TRUE(prober.ended());
  }
  EXPECT_EQ(runner.runs, 9);
  Prober uninterrupted(runner, {});
  uninterrupted.calibrate(kAboveLimit, 0.001);
  const auto whole = uninterrupted.ask(kBelowLimit);
  const auto before = runner.runs;
  Prober resumed(runner, {}, memory, record);
  resumed.calibrate(kAboveLimit, 0.001);
  const auto rest = resumed.ask(kBelowLimit);
  EXPECT_EQ(rest.answer, Answer::passes);
  EXPECT_EQ(rest.counts, whole.counts);
  EXPECT_EQ(runner.runs - before, whole.counts.passed - 3);
}

TEST(Prober, StopsWhenItsRunsCannotBeRecorded) {
  FakeRunner runner(large);
  Prober prober(runner, {}, {}, [](const Plan&, const Counts&) -> Result<void> {
    return harness_error("the disk is full");
  });
  prober.calibrate(kAboveLimit, 0.001);
  EXPECT_TRUE(prober.ended());
  ASSERT_FALSE(prober.problem());
  EXPECT_EQ(prober.problem().error().message, "the disk is full");
}

// A run that hangs takes as long as thousands of others, and there may be hundreds of plans to ask.
TEST(Prober, MakesFewRunsAtATimeUntilTheyAreKnownToBeShort) {
  class SlowRunner final : public Runner {
   public:
    std::vector<Counts> run(std::span<const Request> requests) override {
      std::vector<Counts> out;
      for (const auto& r : requests) {
        made += r.times;
        out.push_back({.passed = r.times});
      }
      most = std::max(most, made - std::exchange(before, made));
      return out;
    }
    std::int64_t made = 0, before = 0, most = 0;
  };
  SlowRunner runner;
  Prober prober(runner, {.stop = [&] { return runner.made >= 20; }});
  std::vector<Plan> plans;
  for (std::int64_t t = 1; t <= 200; ++t) plans.push_back(sample_plan({call_step(t, 1)}));
  prober.ask(plans);
  EXPECT_TRUE(prober.ended());
  EXPECT_LE(runner.made, 60);
  Prober unlimited(runner, {});
  unlimited.ask(plans);
  EXPECT_GT(runner.most, 200) << "short runs are made many at a time";
}

// Fails with another signature or cannot be judged.
class OddRunner final : public Runner {
 public:
  std::vector<Counts> run(std::span<const Request> requests) override {
    std::vector<Counts> out;
    for (const auto& r : requests) {
      const auto t = get(calls_of(r.plan).front()->call.dims, "T");
      Counts c;
      (t == 1 ? c.same : t == 2 ? c.other : c.unjudged) = r.times;
      if (t != 1) c.said = "why";
      out.push_back(c);
    }
    return out;
  }
};

TEST(Prober, TellsAnotherFailureAndNoJudgementFromAPass) {
  OddRunner runner;
  Prober prober(runner, {});
  prober.calibrate(sample_plan({call_step(1, 1)}), 0.001);
  const Probe other = prober.ask(sample_plan({call_step(2, 1)}));
  EXPECT_EQ(other.answer, Answer::differs);
  EXPECT_EQ(other.counts.said, "why");
  EXPECT_EQ(prober.ask(sample_plan({call_step(3, 1)})).answer, Answer::unjudged);
}

TEST(Prober, TakesAStrayOtherFailureForNone) {
  const statistics::Rates sure = statistics::rates_for(6, 6, 0.001);
  EXPECT_EQ(answer_of({.other = 30}, sure), Answer::differs);
  EXPECT_EQ(answer_of({.passed = 30}, sure), Answer::passes);
  const statistics::Rates often = statistics::rates_for(24, 32, 0.001);
  EXPECT_EQ(answer_of({.other = 20, .passed = 20}, often), Answer::differs);
  EXPECT_EQ(answer_of({.other = 1, .passed = 63}, often), Answer::passes);
}

TEST(Counts, KnowTheOtherSignatureOnlyIfAllRunsHaveIt) {
  Counts counts{.other = 1, .said = "a"};
  counts.add({.same = 2});
  counts.add({.other = 3, .said = "a"});
  EXPECT_EQ(counts.only_other(), "a");
  Counts two = counts;
  two.add({.other = 1, .said = "b"});
  EXPECT_EQ(two.only_other(), "");
  two.add({.other = 1, .said = "a"});
  EXPECT_EQ(two.only_other(), "") << "it was seen before";
  counts.add({.unjudged = 1, .said = "the deadline ended it"});
  EXPECT_EQ(counts.only_other(), "") << "what is said may be of the run that was not judged";
}

TEST(Prober, TakesOneOtherFailureOfAllForTheBackground) {
  const Probe fails{Answer::fails, {.same = 1}};
  const Probe other{Answer::differs, {.other = 9, .said = "a"}};
  const Probe another{Answer::differs, {.other = 9, .said = "b"}};
  const Probe now_and_then{Answer::differs, {.other = 5, .passed = 4, .said = "a"}};
  const auto of = [](std::vector<Probe> probes) { return background_of(probes); };
  EXPECT_EQ(of({fails, other, other, {Answer::unjudged, {}}}), "a");
  EXPECT_EQ(of({fails, other}), "") << "there is one";
  EXPECT_EQ(of({other, another}), "");
  EXPECT_EQ(of({other, other, now_and_then}), "");
  EXPECT_EQ(of({other, other, {Answer::passes, {.passed = 9}}}), "");
  EXPECT_EQ(of({other, other, {}}), "") << "one is not decided";
  EXPECT_EQ(of({fails, fails}), "");
}

}  // namespace
}  // namespace redzone::bisect

#include "bisect/between.h"

#include <gtest/gtest.h>

#include "bisect/fakes.h"

namespace redzone::bisect {
namespace {

using testing::call_step;
using testing::FakeRunner;
using testing::sample_plan;
using testing::sample_spec;
using Names = std::vector<std::string>;

const Plan kFailing = sample_plan({call_step(64, 32), call_step(128, 64)});

Plan passing() {
  Plan plan = sample_plan({call_step(32, 32, 3), call_step(256, 32, 3)});
  for (auto& step : plan.steps) {
    std::get<CallStep>(step).call.config["num_warps"] = 8;
    std::get<CallStep>(step).call.config["block"] = 128;
  }
  plan.mode.launch = Launch::blocking;
  plan.mode.placement = Placement::guard_before;
  return plan;
}

Result<Between> between(FakeRunner::Rule fails, const Plan& other = passing()) {
  FakeRunner runner(std::move(fails));
  Prober prober(runner, {});
  return bisect_between(kFailing, other, sample_spec(), prober);
}

TEST(Between, FindsTheOneDifferenceThatMatters) {
  const auto b = between(
      [](const Plan& p) { return get_int(calls_of(p).back()->call.config, "num_warps") == 4; });
  ASSERT_TRUE(b && b->go && b->come);
  EXPECT_EQ(b->differences.size(), 9u);
  EXPECT_EQ(b->go->settings, Names{"num_warps = 8"});
  EXPECT_EQ(b->go->probe.answer, Answer::passes);
  EXPECT_EQ(b->come->settings, Names{"num_warps = 4"});
  EXPECT_EQ(b->come->probe.answer, Answer::fails);
}

TEST(Between, BringsBackAllThatIsNeededTogether) {
  const auto b = between([](const Plan& p) {
    return get(calls_of(p)[1]->call.dims, "C") == 64 && p.mode.launch == Launch::async;
  });
  ASSERT_TRUE(b && b->go && b->come);
  EXPECT_EQ(b->go->settings.size(), 1u);
  EXPECT_EQ(b->come->settings, (Names{"call 2: C = 64", "launch = async"}));
}

TEST(Between, SaysWhenTheOtherPlanFailsToo) {
  const auto b = between([](const Plan&) { return true; });
  ASSERT_TRUE(b);
  EXPECT_FALSE(b->go);
  EXPECT_NE(sentence(*b).find("does not pass"), std::string::npos);
}

TEST(Between, RefusesOtherStepsAndNoDifference) {
  EXPECT_FALSE(between([](const Plan&) { return true; }, sample_plan({call_step(64, 32)})));
  EXPECT_FALSE(between([](const Plan&) { return true; }, kFailing));
}

}  // namespace
}  // namespace redzone::bisect

#include "core/validate.h"

#include <gtest/gtest.h>

#include "core/sample.h"

namespace redzone {
namespace {

std::string error_of_call(const std::function<void(Call&)>& change) {
  Plan plan = testing::sample_plan();
  change(std::get<CallStep>(plan.steps[3]).call);
  const auto r = validate(plan, testing::sample_spec(), "p");
  return r ? "" : r.error().message;
}

TEST(Validate, TheSampleIsValid) {
  EXPECT_EQ(error_of_call([](Call&) {}), "");
}

TEST(Validate, EachMistakeIsNamed) {
  EXPECT_EQ(error_of_call([](Call& c) { c.dims["TT"] = 1; }),
            "p: step 4: unknown dim 'TT', did you mean 'T'? (dims: T, C, D)");
  EXPECT_EQ(error_of_call([](Call& c) { c.dims.erase("T"); }), "p: step 4: dim 'T' is missing");
  EXPECT_EQ(error_of_call([](Call& c) { c.dims["T"] = 128; }),
            "p: step 4: T = 128: must be in 0..64 and a multiple of 4");
  EXPECT_EQ(error_of_call([](Call& c) { c.dims["D"] = 17; }),
            "p: step 4: D = 17: must be one of 16, 32");
  EXPECT_EQ(error_of_call([](Call& c) { c.dims["C"] = 5; }), "p: step 4: C must divide T");
  EXPECT_EQ(error_of_call([](Call& c) { c.dims["C"] = 32, c.dims["D"] = 32; }),
            "p: step 4: C * D must be below 1024");
  EXPECT_EQ(error_of_call([](Call& c) { c.config["num_warps"] = 5; }),
            "p: step 4: num_warps = 5: must be one of 4, 8");
  EXPECT_EQ(error_of_call([](Call& c) { c.layouts["y"].transposed = true; }),
            "p: step 4: tensor 'y': a transposed layout is not allowed");
}

CallStep add_step(std::int64_t graph = 0, std::int64_t stream = 0) {
  CallStep step = std::get<CallStep>(testing::sample_plan().steps[3]);
  step.graph = graph;
  step.stream = stream;
  return step;
}

std::string error_of_steps(std::vector<Step> steps, bool capturable = true) {
  Plan plan = testing::sample_plan();
  plan.steps = std::move(steps);
  TargetSpec spec = testing::sample_spec();
  spec.capturable = capturable;
  const auto r = validate(plan, spec, "p");
  return r ? "" : r.error().message;
}

TEST(Validate, GraphsOfAllForms) {
  EXPECT_EQ(error_of_steps({add_step(1), ReplayStep{1}}), "");
  EXPECT_EQ(error_of_steps({add_step(2), add_step(2), add_step(), add_step(1), ReplayStep{1, 3, 7},
                            SyncStep{}, ReplayStep{2}, ReplayStep{1}}),
            "");
  // Waits after the last captured call are not part of the body.
  EXPECT_EQ(error_of_steps({add_step(1), WaitStep{3, 0}, add_step(1, 3), WaitStep{2, 3},
                            WaitStep{0, 1}, ReplayStep{1}}),
            "");
  EXPECT_EQ(error_of_steps({add_step(1, 4), WaitStep{0, 4}, add_step(1), WaitStep{4, 0},
                            add_step(1, 4), ReplayStep{1}}),
            "");
}

TEST(Validate, EachMistakeOfAGraphIsNamed) {
  EXPECT_EQ(error_of_steps({add_step(1)}), "p: graph 1 is captured and never replayed");
  EXPECT_EQ(error_of_steps({ReplayStep{3}, add_step()}),
            "p: step 1: graph 3 is replayed before it is captured");
  EXPECT_EQ(error_of_steps({add_step(1), add_step(), add_step(1), ReplayStep{1}}),
            "p: step 3: graph 1 is already captured: it can be captured only once");
  EXPECT_EQ(error_of_steps({add_step(1), SyncStep{}, add_step(1), ReplayStep{1}}),
            "p: step 3: graph 1 is already captured: it can be captured only once");
  EXPECT_EQ(error_of_steps({add_step(1), add_step(1, 1), ReplayStep{1}}),
            "p: step 2: graph 1: stream 1 has not waited for a stream of the graph");
  EXPECT_EQ(error_of_steps({add_step(1), WaitStep{0, 2}, add_step(1), ReplayStep{1}}),
            "p: step 3: graph 1: stream 0 waits for stream 2, which is not part of it");
  EXPECT_EQ(error_of_steps({add_step(1), ReplayStep{1}}, false),
            "p: step 1: graph 1: calls of 'sample' cannot be captured");
  EXPECT_EQ(error_of_steps({add_step(9), ReplayStep{1}}), "p: step 1: graph 9: must be in 1..8");
  EXPECT_EQ(error_of_steps({add_step(1), ReplayStep{0}}), "p: step 2: graph 0: must be in 1..8");
}

TEST(Validate, StreamsAndRepeatsAreInRange) {
  EXPECT_EQ(error_of_steps({add_step(0, 8)}), "p: step 1: stream 8: must be in 0..7");
  EXPECT_EQ(error_of_steps({add_step(), WaitStep{0, -1}}), "p: step 2: stream -1: must be in 0..7");
  EXPECT_EQ(error_of_steps({add_step(1), ReplayStep{1, 0}}),
            "p: step 2: repeat 0: must be in 1..4096");
  EXPECT_EQ(error_of_steps({add_step(1), ReplayStep{1, 1, 9}}),
            "p: step 2: stream 9: must be in 0..7");
}

TEST(Validate, PlainGraphsRunWhereTheyAreCapturedAndAtEachReplay) {
  Plan plan = testing::sample_plan();
  plan.steps = {add_step(1, 2), WaitStep{2, 2}, add_step(1, 2), add_step(), ReplayStep{1, 5, 3}};
  EXPECT_EQ(call_count(plan), 2 + 1 + 5 * 2);
  EXPECT_TRUE(has_graphs(plan));
  const Plan plain = with_plain_graphs(plan);
  EXPECT_EQ(plain.steps, (std::vector<Step>{add_step(0, 2), WaitStep{2, 2}, add_step(0, 2),
                                            add_step(), add_step(0, 3), add_step(0, 3)}));
  EXPECT_FALSE(has_graphs(plain));
  EXPECT_EQ(plain.mode, plan.mode);
}

TEST(Validate, WrongTarget) {
  Plan plan = testing::sample_plan();
  plan.target = "other";
  EXPECT_EQ(validate(plan, testing::sample_spec()).error().message,
            "plan: target is 'other', not 'sample'");
}

TEST(Validate, CompleteFillsDefaultsOnly) {
  Plan plan = testing::sample_plan();
  auto& call = std::get<CallStep>(plan.steps[0]).call;
  call.config.erase("mode");
  complete(plan, testing::sample_spec());
  EXPECT_EQ(plan, testing::sample_plan());
}

TEST(Validate, StepsTimesRepeatsAreBounded) {
  CallStep often = add_step();
  often.repeat = 4096;
  EXPECT_EQ(error_of_steps(std::vector<Step>(64, often)), "");
  EXPECT_EQ(error_of_steps(std::vector<Step>(65, often)),
            "p: makes 266240 calls with its repeats, at most 262144 are possible");
}

}  // namespace
}  // namespace redzone

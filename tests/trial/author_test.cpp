// Mistakes of a target's author are reported as such and not as faults; a target outlives its work.
#include <gtest/gtest.h>

#include "trial/bench.h"

namespace redzone::testing {
namespace {

// The message for a run() function.
std::string message_of(RunFunction run, TargetSpec spec = double_spec()) {
  Bench bench(std::move(run), std::move(spec));
  const Observation o = bench.run({call_of(2, 3)});
  EXPECT_EQ(o.end, End::spec_error) << o.message;
  EXPECT_FALSE(o.fault) << o.fault->detail;
  return o.message;
}

TEST(Author, UnknownNamesInRunAreNoFaults) {
  EXPECT_EQ(message_of([](Context& ctx) { ctx.tensor("z"); }), "target 't': run(): no tensor 'z'");
  EXPECT_EQ(message_of([](Context& ctx) { ctx.dim("M"); }), "target 't': run(): no dim 'M'");
  EXPECT_EQ(message_of([](Context& ctx) { ctx.knob("warps"); }),
            "target 't': run(): no knob 'warps'");
}

TEST(Author, WhatTheTargetItselfThrowsStaysItsFailure) {
  Bench bench([](Context&) { static_cast<void>(std::vector<int>().at(3)); });
  EXPECT_EQ(bench.run({call_of(2, 3)}).end, End::fault);
}

TEST(Author, AShapeFunctionThatThrowsIsNamedWithItsTensor) {
  // The registry accepts it, since it throws only for some calls.
  TargetSpec spec = double_spec();
  spec.tensors[1].shape = [](const Dims& d) -> Shape {
    if (get(d, "R") == 2) throw std::runtime_error("odd R only");
    return {get(d, "R"), get(d, "C")};
  };
  EXPECT_EQ(message_of(run_double, spec),
            "target 't': the shape function of tensor 'y' threw \"odd R only\" for C = 3, R = 2");
  spec.tensors[1].shape = [](const Dims& d) -> Shape {
    return {get(d, "R") == 2 ? -7 : get(d, "R"), get(d, "C")};
  };
  EXPECT_EQ(message_of(run_double, spec),
            "target 't', tensor 'y': its shape function gives a size of -7");
}

struct NoReference : Target {
  void run(Context& ctx) override { run_double(ctx); }
};

TEST(Author, AReferenceThatIsNotImplementedIsNoMismatch) {
  TargetSpec spec = double_spec();
  spec.has_reference = true;
  FakeDevice device;
  Registry registry;
  ASSERT_TRUE(
      registry.add({spec, DeviceKind::host, [] { return std::make_unique<NoReference>(); }}));
  trial::TrialRunner runner(device, registry, DeviceKind::host, nullptr, {});
  Plan plan;
  plan.target = "t";
  plan.steps.push_back(CallStep{call_of(2, 3), 1, 0});
  const Observation o = runner.run(plan, {.reference = true});
  EXPECT_EQ(o.end, End::spec_error);
  EXPECT_NE(o.message.find("reference() is not implemented"), std::string::npos) << o.message;
}

}  // namespace
}  // namespace redzone::testing

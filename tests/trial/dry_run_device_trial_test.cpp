// Trials of a dry run: what is observed and what is not.
#include <memory>

#include "device/dry_run/dry_run_device.h"
#include "trial/bench.h"

namespace redzone::testing {
namespace {

// A target of the host device in a dry run.
struct DryBench {
  explicit DryBench(RunFunction run, TargetSpec spec = double_spec()) {
    const auto added =
        registry.add({spec, DeviceKind::host, [run] {
                        return std::make_unique<FunctionTarget>(run, ReferenceFunction{});
                      }});
    EXPECT_TRUE(added) << added.error().message;
  }
  Observation run(const std::vector<Call>& calls, Mode mode = {}) {
    trial::TrialRunner runner(device, registry, DeviceKind::dry_run, &box,
                              trial::limits_for(device.info()));
    Plan plan;
    plan.target = "t";
    for (const auto& call : calls) plan.steps.push_back(CallStep{call, 1, 0});
    return runner.run(plan, {.mode = mode, .reference = true});
  }

  device::DryRunDevice device;
  Registry registry;
  device::BlackBox box;
};

void must_not_run_kernel() {
  ADD_FAILURE() << "a kernel ran";
}

TEST(DryRunDeviceTrial, ObservesLaunchesAndRequestsOfEveryCall) {
  DryBench bench([](Context& ctx) {
    EXPECT_EQ(ctx.device(), DeviceKind::dry_run);
    ctx.scratch("s", 64, 16, {.bytes_per_cta = 64, .grid = {ctx.dim("R"), 1, 1}, .align = 16});
    launch(ctx, "k", must_not_run_kernel, {{ctx.dim("R")}, {32}, 8});
  });
  for (const Launch mode : {Launch::blocking, Launch::async, Launch::gated}) {
    const Observation o = bench.run({call_of(2, 4), call_of(3, 4)}, {.launch = mode});
    EXPECT_EQ(o.end, End::completed) << o.message;
    ASSERT_EQ(o.calls.size(), 2u);
    for (std::size_t i = 0; i < 2; ++i) {
      const auto rows = static_cast<std::int64_t>(i) + 2;
      EXPECT_EQ(o.calls[i].call, static_cast<std::int32_t>(i));
      EXPECT_TRUE(o.calls[i].buffers.empty()) << "a digest of nothing would compare equal";
      EXPECT_TRUE(o.calls[i].references.empty());
      EXPECT_EQ(o.calls[i].launches,
                (std::vector<LaunchObservation>{{"k", {rows, 1, 1}, {32, 1, 1}, 8}}));
      EXPECT_EQ(o.calls[i].scratch,
                (std::vector<ScratchObservation>{{"s", 64, 16, 64, {rows, 1, 1}, 1, 16}}));
    }
  }
}

TEST(DryRunDeviceTrial, ShapesOfAnySizeCostNothing) {
  DryBench bench([](Context& ctx) {
    EXPECT_NE(ctx.tensor("x").base, nullptr);
    EXPECT_NE(ctx.tensor("x").base, ctx.tensor("y").base);
    launch(ctx, "k", must_not_run_kernel, {});
  });
  const std::vector<Call> calls(8, call_of(std::int64_t{1} << 18, std::int64_t{1} << 18));
  EXPECT_EQ(bench.run(calls).end, End::completed);
}

TEST(DryRunDeviceTrial, ARefusedLaunchIsAFaultOfItsCall) {
  DryBench bench([](Context& ctx) {
    launch(ctx, "k", must_not_run_kernel, {{1}, {ctx.dim("C")}});
  });
  const Observation o = bench.run({call_of(1, 1024), call_of(1, 1025)});
  EXPECT_EQ(o.end, End::fault);
  ASSERT_TRUE(o.fault);
  EXPECT_EQ(o.fault->code, "invalid-launch");
  EXPECT_EQ(o.fault->call, 1);
  EXPECT_EQ(o.calls.size(), 1u) << "the call before it counts";
}

TEST(DryRunDeviceTrial, AllThatATargetMayAskForIsThere) {
  DryBench bench(
      [](Context& ctx) {
        auto* table = static_cast<int*>(ctx.pinned_memory("table", 64));
        ASSERT_NE(table, nullptr);
        table[3] = 7;
        void* a = ctx.allocate("a", 128);
        ctx.copy(a, table, 64);
        ctx.free(a);
        ctx.workspace("w", 64);
        ctx.wait(1, 0);
        ctx.begin_capture();
        launch(ctx, "k", must_not_run_kernel, {});
        const GraphRef graph = ctx.end_capture();
        EXPECT_TRUE(graph);
        ctx.replay(graph);
        VariantRequest request;
        request.name = "v";
        request.source = "no C++";
        ctx.launch(ctx.variant(request), {}, {});
      },
      [] {
        TargetSpec spec = double_spec();
        spec.side_streams = 1;
        spec.capturable = false;
        return spec;
      }());
  for (const Allocator allocator :
       {Allocator::guard, Allocator::plain, Allocator::pool, Allocator::caching}) {
    const Observation o =
        bench.run({call_of(2, 2), call_of(2, 2)}, with_allocator(Mode{}, allocator));
    EXPECT_EQ(o.end, End::completed) << o.message << (o.fault ? o.fault->detail : "");
    EXPECT_EQ(o.calls.size(), 2u);
  }
}

TEST(DryRunDeviceTrial, WhatATargetRefusesIsNotApplicable) {
  DryBench bench([](Context& ctx) {
    if (ctx.device() == DeviceKind::dry_run) ctx.unsupported("it reads what a kernel wrote");
  });
  const Observation o = bench.run({call_of(2, 2)});
  EXPECT_EQ(o.end, End::unsupported);
  EXPECT_EQ(o.message, "it reads what a kernel wrote");
}

}  // namespace
}  // namespace redzone::testing

// Side streams of a target, edges between calls, and the effect of missing edges under the host
// scheduler.
#include <redzone/kernel.h>

#include "trial/bench.h"
#include "trial/device_trial_host.h"

namespace redzone::testing {
namespace {

using Log = std::vector<std::string>;

Plan stream_plan(std::vector<Step> steps) {
  Plan plan;
  plan.target = "t";
  plan.steps = std::move(steps);
  return plan;
}

CallStep stream_step(std::int64_t c, std::int64_t stream = 0) {
  return {call_of(1, c), 1, stream};
}

TargetSpec side_spec(int side_streams) {
  TargetSpec spec = double_spec();
  spec.side_streams = side_streams;
  return spec;
}

TEST(SideStreams, ComeAfterThoseOfThePlan) {
  Bench bench(
      [](Context& ctx) {
        launch(ctx, "own", nothing_kernel, {});
        ctx.wait(1, 0);
        launch(ctx, "side", nothing_kernel, {.stream = 1});
        ctx.wait(0, 1);
      },
      side_spec(2));
  bench.run(stream_plan({stream_step(1), stream_step(2, 1)}), {});
  EXPECT_EQ(bench.device.settings.streams, 2 + 2 + 1);
  EXPECT_EQ(bench.device.logged({"launch", "wait 2", "wait 0 on 2", "wait 1 on 2"}),
            (Log{"launch own", "wait 2 on 0", "launch side @2", "wait 0 on 2", "launch own @1",
                 "wait 2 on 1", "launch side @2", "wait 1 on 2"}));
}

TEST(SideStreams, BlockingSynchronizesAfterTheirLaunchesToo) {
  Bench bench([](Context& ctx) { launch(ctx, "side", nothing_kernel, {.stream = 1}); },
              side_spec(1));
  bench.run({call_of(1, 1)}, {.launch = Launch::blocking});
  EXPECT_EQ(bench.device.logged({"launch", "sync"}), (Log{"launch side @1", "sync", "sync"}));
}

TEST(SideStreams, ScratchIsFilledOnAStreamOfItsOwnThatOrdersNothingElse) {
  Bench bench(
      [](Context& ctx) {
        launch(ctx, "own", nothing_kernel, {});
        ctx.scratch("s", 16);
        launch(ctx, "side", nothing_kernel, {.stream = 1});
      },
      side_spec(1));
  bench.run({call_of(1, 1)});
  EXPECT_EQ(bench.device.log, (Log{"fill", "launch own", "fill @2", "wait 0 on 2", "wait 1 on 2",
                                   "launch side @1", "check", "sync"}))
      << "nothing but the target orders its side stream behind its own, or behind the fill of the "
         "tensors, or the other way round";
}

TEST(SideStreams, ThatAreNotDeclaredAreAnErrorOfTheTarget) {
  for (const int stream : {-1, 2}) {
    std::vector<RunFunction> uses = {
        [&](Context& ctx) { launch(ctx, "k", nothing_kernel, {.stream = stream}); },
        [&](Context& ctx) { ctx.wait(0, stream); },
        [&](Context& ctx) { EXPECT_EQ(ctx.stream(stream), nullptr); }};
    for (auto& use : uses) {
      Bench bench(std::move(use), side_spec(1));
      const Observation o = bench.run({call_of(1, 1)});
      EXPECT_EQ(o.end, End::fault);
      EXPECT_EQ(o.fault->code, "unknown-stream");
    }
  }
}

TEST(SideStreams, HandlesAreThoseOfTheDevice) {
  std::vector<void*> handles;
  Bench bench(
      [&](Context& ctx) {
        handles = {ctx.stream(), ctx.stream(0), ctx.stream(1)};
      },
      side_spec(1));
  bench.run(stream_plan({stream_step(1, 1)}), {});
  EXPECT_EQ(handles,
            (std::vector<void*>{bench.device.stream_handle(1), bench.device.stream_handle(1),
                                bench.device.stream_handle(2)}));
}

TEST(CallOrder, ConsecutiveCallsOnDifferentStreamsAreOrderedOnce) {
  Bench bench([](Context& ctx) { launch(ctx, "k", nothing_kernel, {}); });
  bench.run(stream_plan({stream_step(1), stream_step(2, 1), WaitStep{0, 1}, stream_step(3),
                         SyncStep{}, stream_step(4, 1), stream_step(5, 1), WaitStep{2, 1},
                         WaitStep{0, 2}, stream_step(6)}),
            {});
  EXPECT_EQ(bench.device.logged({"wait 1", "wait 0", "wait 2", "launch", "sync"}),
            (Log{"wait 1 on 0", "wait 2 on 0", "launch k", "wait 1 on 0", "launch k @1",
                 "wait 0 on 1", "launch k", "sync", "launch k @1", "launch k @1", "wait 2 on 1",
                 "wait 0 on 2", "launch k", "wait 0 on 1", "wait 0 on 2", "sync"}));
}

TEST(CallOrder, CallsThatMayOverlapAreLeftAlone) {
  TargetSpec spec = double_spec();
  spec.concurrent_calls = true;
  Bench bench([](Context& ctx) { launch(ctx, "k", nothing_kernel, {}); }, spec);
  bench.run(stream_plan({stream_step(1), stream_step(2, 1), stream_step(3)}), {});
  EXPECT_EQ(bench.device.logged({"wait", "launch"}),
            (Log{"wait 1 on 0", "launch k", "launch k @1", "launch k", "wait 0 on 1"}));
}

// ---- On the host device ------------------------------------------------------------------------

__global__ void produce(const float* x, float* s, int n) {
  for (int i = 0; i < n; ++i) s[i] = 2 * x[i];
}
__global__ void consume(const float* s, float* y, int n) {
  for (int i = 0; i < n; ++i) y[i] = s[i] + 1;
}

// y = 2 x + 1, the product made on a side stream. `edge`: the consumer waits for it.
struct Pair : Target {
  static TargetSpec spec() {
    TargetSpec spec;
    spec.name = "pair";
    spec.dims = {{.name = "N", .min = 1}};
    spec.tensors = {{.name = "x", .shape = shape_of({"N"})},
                    {.name = "y", .role = Role::out, .shape = shape_of({"N"})}};
    spec.knobs = {{.name = "edge", .values = {0, 1}}};
    spec.side_streams = 1;
    return spec;
  }
  void run(Context& ctx) override {
    const int n = static_cast<int>(ctx.dim("N"));
    auto* s = static_cast<float*>(ctx.scratch("s", static_cast<std::size_t>(n) * 4));
    ctx.wait(1, 0);
    launch(ctx, "produce", produce, {.stream = 1}, ctx.tensor("x").data<float>(), s, n);
    if (ctx.knob("edge") != 0) ctx.wait(0, 1);
    launch(ctx, "consume", consume, {}, s, ctx.tensor("y").data<float>(), n);
    ctx.wait(0, 1);
  }
};

class OnHost : public ::testing::Test {
 protected:
  OnHost() : host(device::open_host_device(), targets, nullptr, "") {
    EXPECT_TRUE(
        targets.add({Pair::spec(), DeviceKind::host, [] { return std::make_unique<Pair>(); }}));
  }
  // How many of 50 seeds give outputs that differ from those of a blocking run.
  int wrong_orders(std::int64_t edge, const std::vector<Step>& steps, Launch launch) {
    Plan plan;
    plan.target = "pair";
    plan.steps = steps;
    for (auto& s : plan.steps)
      if (auto* call = std::get_if<CallStep>(&s)) call->call.config["edge"] = edge;
    const Observation expected = host.run(plan, {.mode = {.launch = Launch::blocking}});
    EXPECT_EQ(expected.end, End::completed) << expected.message;
    int wrong = 0;
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
      const Mode mode{.launch = launch, .schedule_seed = seed};
      const Observation o = host.run(plan, {.mode = mode});
      EXPECT_EQ(o.end, End::completed) << o.message;
      EXPECT_EQ(host.run(plan, {.mode = mode}).calls, o.calls) << "seed " << seed;
      wrong += o.calls != expected.calls;
    }
    return wrong;
  }
  static CallStep pair(std::int64_t graph = 0, std::int64_t stream = 0) {
    Call call;
    call.dims = {{"N", 9}};
    return {call, 1, stream, graph};
  }

  Registry targets;
  trial::DeviceTrialHost host;
};

TEST_F(OnHost, AMissingEdgeShowsInAGoodShareOfSeedsAndAnEdgeInNone) {
  EXPECT_GE(wrong_orders(0, {pair()}, Launch::gated), 15);
  EXPECT_GE(wrong_orders(0, {pair()}, Launch::async), 10);
  EXPECT_EQ(wrong_orders(0, {pair()}, Launch::blocking), 0);
  for (const auto launch : {Launch::gated, Launch::async})
    EXPECT_EQ(wrong_orders(1, {pair(), pair(0, 1), pair()}, launch), 0);
}

TEST_F(OnHost, TheSameInsideOfAGraph) {
  EXPECT_GE(wrong_orders(0, {pair(1), pair(), ReplayStep{1, 2}}, Launch::gated), 15);
  EXPECT_EQ(wrong_orders(1, {pair(1), pair(), ReplayStep{1, 2, 1}}, Launch::gated), 0);
}

}  // namespace
}  // namespace redzone::testing

// Graphs on the host device: real kernels, with other shapes between the capture and the replay.
#include <redzone/kernel.h>

#include "trial/bench.h"
#include "trial/device_trial_host.h"

namespace redzone::testing {
namespace {

__global__ void scale(const float* x, float* y, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) y[i] = 2 * x[i];
}
__global__ void grow(float* y, const float* s, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) y[i] += s[i];
}

// s = 2 x; y += s. The tensor y is in-out, so a replay must start from fresh data.
struct Grow : Target {
  static TargetSpec spec() {
    TargetSpec spec;
    spec.name = "grow";
    spec.dims = {{.name = "N", .min = 1}};
    spec.tensors = {{.name = "x", .shape = shape_of({"N"})},
                    {.name = "y", .role = Role::inout, .shape = shape_of({"N"})}};
    spec.side_streams = 1;
    return spec;
  }
  void run(Context& ctx) override {
    const int n = static_cast<int>(ctx.dim("N"));
    const Extent grid{(n + 31) / 32};
    auto* s = static_cast<float*>(ctx.scratch("s", static_cast<std::size_t>(n) * 4));
    ctx.wait(1, 0);
    launch(ctx, "scale", scale, {grid, {32}, 0, 1}, ctx.tensor("x").data<float>(), s, n);
    ctx.wait(0, 1);
    launch(ctx, "grow", grow, {grid, {32}}, ctx.tensor("y").data<float>(), s, n);
  }
};

// Captures its first shape and replays that graph forever: correct for one shape only.
struct Frozen : Grow {
  static TargetSpec spec() {
    TargetSpec spec = Grow::spec();
    spec.name = "frozen";
    spec.capturable = false;
    return spec;
  }
  void run(Context& ctx) override {
    if (!graph_) {
      ctx.begin_capture();
      Grow::run(ctx);
      graph_ = ctx.end_capture();
    }
    ctx.replay(graph_);
  }
  GraphRef graph_;
};

class HostGraphs : public ::testing::Test {
 protected:
  HostGraphs() : host(device::open_host_device(), targets, nullptr, "") {
    EXPECT_TRUE(
        targets.add({Grow::spec(), DeviceKind::host, [] { return std::make_unique<Grow>(); }}));
    EXPECT_TRUE(
        targets.add({Frozen::spec(), DeviceKind::host, [] { return std::make_unique<Frozen>(); }}));
  }
  static CallStep step(std::int64_t n, std::int64_t graph = 0, std::int64_t stream = 0) {
    Call call;
    call.dims = {{"N", n}};
    return {call, 1, stream, graph};
  }
  Observation run(std::string target, std::vector<Step> steps, const TrialSpec& trial = {}) {
    Plan plan;
    plan.target = std::move(target);
    plan.steps = std::move(steps);
    return host.run(plan, trial);
  }

  Registry targets;
  trial::DeviceTrialHost host;
};

TEST_F(HostGraphs, GiveTheOutputsOfPlainCallsInEveryMode) {
  const Observation expected = run("grow", {step(40), step(7), step(100)});
  ASSERT_EQ(expected.end, End::completed) << expected.message;
  const std::vector<Step> steps = {step(40, 1),        WaitStep{1, 0}, step(7, 1, 1),
                                   step(100, 2),       ReplayStep{1},  ReplayStep{2, 2, 1},
                                   ReplayStep{1, 3, 2}};
  for (const auto launch : {Launch::blocking, Launch::async, Launch::gated})
    for (const auto allocator : {Allocator::guard, Allocator::plain})
      for (std::uint64_t seed = 0; seed < 12; ++seed) {
        const Observation o =
            run("grow", steps,
                {.mode = {launch, allocator, Placement::guard_after, 0x7f7f7f7fu, seed}});
        ASSERT_EQ(o.end, End::completed) << o.message;
        ASSERT_EQ(o.calls.size(), 3u);
        for (std::size_t i = 0; i < 3; ++i)
          EXPECT_EQ(buffer(o, i, "y").digest, buffer(expected, i, "y").digest) << i;
      }
}

TEST_F(HostGraphs, OfATargetLiveUntilTheTrialEnds) {
  const Observation one = run("frozen", {step(40)});
  ASSERT_EQ(one.end, End::completed) << one.message;
  EXPECT_EQ(buffer(one, 0, "y").digest, buffer(run("grow", {step(40)}), 0, "y").digest);
  // The second shape is never computed: the replay works on the buffers of the first call.
  const Observation two = run("frozen", {step(40), step(7)});
  ASSERT_EQ(two.end, End::completed) << two.message;
  EXPECT_NE(buffer(two, 1, "y").digest, buffer(run("grow", {step(7)}), 0, "y").digest);
}

TEST_F(HostGraphs, AStreamThatIsNotJoinedIsUnsupportedWithTheCode) {
  struct Fork : Target {
    void run(Context& ctx) override {
      ctx.begin_capture();
      ctx.wait(1, 0);
      ctx.end_capture();
    }
  };
  TargetSpec spec = Grow::spec();
  spec.name = "fork";
  ASSERT_TRUE(targets.add({spec, DeviceKind::host, [] { return std::make_unique<Fork>(); }}));
  const Observation o = run("fork", {step(3)});
  EXPECT_EQ(o.end, End::unsupported);
  EXPECT_NE(o.message.find("CUDA_ERROR_STREAM_CAPTURE_UNJOINED"), std::string::npos) << o.message;
  EXPECT_EQ(run("grow", {step(3)}).end, End::completed);
}

}  // namespace
}  // namespace redzone::testing

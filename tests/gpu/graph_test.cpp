// Capture and replay, side streams and bursts on a GPU.
#include <optional>

#include "gpu/gpu_fixture.h"
#include "gpu/kernels.h"
#include "trial/trial_runner.h"

namespace redzone::gpu_test {
namespace {

constexpr std::int64_t kLongCycles = 20'000'000;  // some 10 ms

class GpuGraphs : public GpuTest {
 protected:
  void open(Launch mode = Launch::async, int streams = 3) {
    begin(mode, streams);
    words_ = reinterpret_cast<std::uint32_t*>(acquire(64 * sizeof(std::uint32_t)).base);
    set(0, 0);
    set(1, 0);
    ASSERT_TRUE(ok(device().synchronize()));
  }
  std::uint32_t* word(int i) { return words_ + i; }
  std::uint32_t value(int i) { return read_value<std::uint32_t>(word(i)); }
  void set(int i, std::uint32_t v, int stream = 0, std::int64_t cycles = 0) {
    ASSERT_TRUE(
        ok(launch(device(), stream, delayed_store_kernel(), kOneThread, word(i), v, cycles)));
  }
  void count(int i, int stream = 0) {
    ASSERT_TRUE(ok(launch(device(), stream, count_kernel(), kOneThread, word(i))));
  }
  int end(int stream = 0) {
    const auto graph = device().end_capture(stream);
    EXPECT_TRUE(ok(graph));
    return graph.value_or(-1);
  }

 private:
  std::uint32_t* words_ = nullptr;
};

TEST_F(GpuGraphs, NothingRunsAtTheCapture) {
  open();
  ASSERT_TRUE(ok(device().begin_capture(0)));
  count(0);
  count(0);
  const int graph = end();
  ASSERT_TRUE(ok(device().synchronize()));
  EXPECT_EQ(value(0), 0u);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(ok(device().launch_graph(i % 2, graph)));
  ASSERT_TRUE(ok(device().synchronize()));
  EXPECT_EQ(value(0), 6u);
}

TEST_F(GpuGraphs, AreHeldLikeLaunches) {
  open(Launch::gated);
  ASSERT_TRUE(ok(device().hold()));
  ASSERT_TRUE(ok(device().begin_capture(0)));
  count(0);
  const int graph = end();
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(ok(device().launch_graph(0, graph)));
  ASSERT_TRUE(ok(device().open()));
  ASSERT_TRUE(ok(device().synchronize()));
  EXPECT_EQ(value(0), 20u);
}

// Loading a kernel releases blocked launches and blocks them again; neither may become part of the
// graph.
TEST_F(GpuGraphs, AKernelMayBeNewWhileHeldAndCaptured) {
  open(Launch::gated);
  ASSERT_TRUE(ok(device().hold()));
  ASSERT_TRUE(ok(device().begin_capture(0)));
  ASSERT_TRUE(ok(launch(device(), 0, count_twin_kernel(), kOneThread, word(0))));
  const int graph = end();
  ASSERT_TRUE(ok(device().launch_graph(0, graph)));
  ASSERT_TRUE(ok(device().synchronize()));
  ASSERT_TRUE(ok(device().launch_graph(0, graph)));
  ASSERT_TRUE(ok(device().synchronize()));
  EXPECT_EQ(value(0), 2u);
}

TEST_F(GpuGraphs, ForkAndJoin) {
  open();
  ASSERT_TRUE(ok(device().begin_capture(1)));
  set(0, 7, 1, kLongCycles);
  ASSERT_TRUE(ok(device().wait(2, 1)));
  ASSERT_TRUE(ok(launch(device(), 2, copy_word_kernel(), kOneThread,
                        static_cast<const std::uint32_t*>(word(0)), word(1))));
  ASSERT_TRUE(ok(device().wait(1, 2)));
  const int graph = end(1);
  ASSERT_TRUE(ok(device().launch_graph(0, graph)));
  ASSERT_TRUE(ok(device().synchronize()));
  EXPECT_EQ(value(1), 7u);
}

TEST_F(GpuGraphs, WhatCannotBeCapturedIsUnsupportedAndTheStreamGoesOn) {
  open();
  ASSERT_TRUE(ok(device().begin_capture(0)));
  ASSERT_TRUE(ok(device().wait(1, 0)));
  count(0, 1);
  const auto unjoined = device().end_capture(0);
  ASSERT_FALSE(unjoined);
  EXPECT_EQ(unjoined.error().kind, device::Failure::Kind::unsupported)
      << describe(unjoined.error());
  EXPECT_EQ(unjoined.error().code, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED");

  ASSERT_TRUE(ok(device().begin_capture(0)));
  EXPECT_FALSE(wait_for_stream(device().stream_handle(0)));
  const auto invalidated = device().end_capture(0);
  ASSERT_FALSE(invalidated);
  EXPECT_EQ(invalidated.error().kind, device::Failure::Kind::unsupported)
      << describe(invalidated.error());

  count(1);
  ASSERT_TRUE(ok(device().synchronize()));
  EXPECT_EQ(value(0), 0u);
  EXPECT_EQ(value(1), 1u);
}

TEST_F(GpuGraphs, AnOpenCaptureEndsWithTheTrial) {
  open();
  ASSERT_TRUE(ok(device().begin_capture(0)));
  count(0);
  begin();
  count(1);
  ASSERT_TRUE(ok(device().synchronize()));
  EXPECT_EQ(value(0), 0u);
  EXPECT_EQ(value(1), 1u);
}

TEST_F(GpuGraphs, AStreamIsOrderedByAnEdgeAndByNothingElse) {
  open();
  const auto copied = [&](bool edge) {
    set(0, 0);
    set(1, 99);
    EXPECT_TRUE(ok(device().synchronize()));
    set(0, 7, 1, kLongCycles);
    if (edge) {
      EXPECT_TRUE(ok(device().wait(2, 1)));
    }
    EXPECT_TRUE(ok(launch(device(), 2, copy_word_kernel(), kOneThread,
                          static_cast<const std::uint32_t*>(word(0)), word(1))));
    EXPECT_TRUE(ok(device().synchronize()));
    return value(1);
  };
  EXPECT_EQ(copied(true), 7u);
  EXPECT_EQ(copied(false), 0u);
}

// ---- Through the runner ------------------------------------------------------------------------

// y = number of calls so far, kept in a workspace; the copy runs on a side stream.
struct Counting : Target {
  static TargetSpec spec() {
    TargetSpec spec;
    spec.name = "counting";
    spec.dims = {{.name = "N", .min = 1}};
    spec.tensors = {
        {.name = "x", .dtype = DType::u32, .shape = shape_of({"N"}), .fill = Fill::constant(1)},
        {.name = "y", .dtype = DType::u32, .role = Role::out, .shape = shape_of({"N"})}};
    spec.side_streams = 1;
    return spec;
  }
  void run(Context& ctx) override {
    auto* counter = static_cast<std::uint32_t*>(ctx.workspace("counter", 4));
    launch_exact(ctx, count_kernel(), {}, counter);
    auto* y = ctx.tensor("y").data<std::uint32_t>();
    for (std::int64_t i = 0; i < ctx.dim("N"); ++i) {
      ctx.wait(1, 0);
      launch_exact(ctx, copy_word_kernel(), {.stream = 1},
                   static_cast<const std::uint32_t*>(counter), y + i);
      ctx.wait(0, 1);
    }
  }
};

class GpuGraphTrials : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    ASSERT_TRUE(targets_.add(
        {Counting::spec(), DeviceKind::cuda, [] { return std::make_unique<Counting>(); }}));
    runner_.emplace(device(), targets_, DeviceKind::cuda, nullptr, trial::TrialLimits{});
  }
  void TearDown() override {
    if (runner_) device().set_black_box(nullptr);
    GpuTest::TearDown();
  }
  static CallStep step(std::int64_t n, std::int64_t graph = 0, std::int64_t stream = 0,
                       std::int64_t repeat = 1) {
    Call call;
    call.dims = {{"N", n}};
    return {call, repeat, stream, graph};
  }
  // Digests of y for each call.
  std::vector<std::uint64_t> run(std::vector<Step> steps, Launch launch) {
    Plan plan;
    plan.target = "counting";
    plan.steps = std::move(steps);
    const Observation o = runner_->run(plan, {.mode = {.launch = launch}});
    EXPECT_EQ(o.end, End::completed) << o.message << (o.fault ? o.fault->code : "");
    std::vector<std::uint64_t> digests;
    for (const auto& call : o.calls)
      for (const auto& b : call.buffers)
        if (b.name == "y") digests.push_back(b.digest);
    return digests;
  }

 private:
  Registry targets_;
  std::optional<trial::TrialRunner> runner_;
};

TEST_F(GpuGraphTrials, ReplaysAfterOtherShapesGiveWhatPlainCallsGive) {
  // Four calls run before the last replay, so the replayed call is the fifth.
  const auto plain = run({step(1), step(2), step(3), step(4), step(5)}, Launch::blocking);
  ASSERT_EQ(plain.size(), 5u);
  for (const auto launch : {Launch::blocking, Launch::async, Launch::gated}) {
    const auto replayed =
        run({step(5, 1), ReplayStep{1, 2}, step(3), step(4), ReplayStep{1, 1, 1}}, launch);
    ASSERT_EQ(replayed.size(), 3u);
    EXPECT_EQ(replayed[0], plain[4]);
    EXPECT_EQ(replayed[1], plain[2]);
    EXPECT_EQ(replayed[2], plain[3]);
  }
}

TEST_F(GpuGraphTrials, ABurstIsGatedInParts) {
  const auto expected = run({step(1, 0, 0, 1500)}, Launch::blocking);
  EXPECT_EQ(run({step(1, 0, 0, 1500)}, Launch::gated), expected);
  EXPECT_EQ(run({step(1, 1), ReplayStep{1, 1500}}, Launch::gated), expected);
}

}  // namespace
}  // namespace redzone::gpu_test

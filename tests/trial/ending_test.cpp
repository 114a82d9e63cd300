// How calls end a trial: refused, by an error, an exception or a process of their own.
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>

#include "core/target_text.h"
#include "trial/bench.h"

namespace redzone::testing {
namespace {

TEST(Ending, ATrialWhoseCallsEnqueueNothingIsIdle) {
  const auto idle = [](RunFunction run) {
    Bench bench(std::move(run));
    const Observation o = bench.run({call_of(1, 1)});
    EXPECT_EQ(o.end, End::completed) << o.message;
    return o.idle;
  };
  EXPECT_TRUE(idle([](Context&) {}));
  EXPECT_TRUE(idle([](Context& ctx) { ctx.scratch("s", 64); }));
  EXPECT_FALSE(idle(run_double));
  EXPECT_FALSE(idle([](Context& ctx) { ctx.stream(); }));
  EXPECT_FALSE(idle([](Context& ctx) { ctx.memset(ctx.scratch("s", 64), 0, 64); }));
  EXPECT_FALSE(idle([](Context& ctx) {
    ctx.begin_capture();
    run_double(ctx);
    ctx.replay(ctx.end_capture());
  }));
  Bench empty_graph([](Context&) {});
  EXPECT_TRUE(
      empty_graph.run(plan_of({CallStep{call_of(1, 1), 1, 0, 1}, ReplayStep{1, 2, 0}}), {}).idle);
  Bench ended([](Context& ctx) { ctx.unsupported("no"); });
  EXPECT_FALSE(ended.run({call_of(1, 1)}).idle);
}

TEST(Ending, Unsupported) {
  Bench bench([](Context& ctx) {
    ctx.unsupported("C must be even");
    run_double(ctx);
  });
  const Observation o = bench.run({call_of(1, 1)});
  EXPECT_EQ(o.end, End::unsupported);
  EXPECT_EQ(o.message, "C must be even");
  EXPECT_TRUE(bench.device.logged({"launch"}).empty()) << "launches of an ended call are dropped";
}

// A write is one whatever the call says after it.
TEST(Ending, WhatARefusedTrialHasWrittenIsObserved) {
  for (const std::int64_t refused : {2, 3}) {
    Bench bench([refused](Context& ctx) {
      if (ctx.dim("C") == 2)
        launch(ctx, "store", store_kernel, {}, ctx.tensor("x").data<float>(), 1e9f);
      // Its canaries were not filled: that waits for the next launch.
      if (ctx.dim("C") == refused) ctx.scratch("tmp", 64);
      if (ctx.dim("C") == refused) ctx.unsupported("no");
    });
    const Observation o = bench.run({call_of(1, 2), call_of(1, 3)});
    EXPECT_EQ(o.end, End::unsupported);
    ASSERT_EQ(o.calls.size(), static_cast<std::size_t>(refused) - 1);
    EXPECT_EQ(buffer(o, 0, "x").changed, 1u);
    for (const auto& call : o.calls)
      for (const auto& b : call.buffers) EXPECT_FALSE(b.scratch) << b.name;
  }
}

// What its check would have shown is not known.
TEST(Ending, ACheckThatWasRefusedShowsNothing) {
  Bench bench(run_double);
  EXPECT_EQ(bench.run({call_of(1, 1)}).calls.size(), 1u);
  bench.device.check_failure =
      device::Failure{device::Failure::Kind::out_of_memory, "no-memory", "for the check"};
  const Observation o = bench.run({call_of(1, 1)});
  EXPECT_EQ(o.end, End::out_of_memory);
  EXPECT_TRUE(o.calls.empty());
}

TEST(Ending, TextsOfTheTargetAreCut) {
  const std::string text(1 << 20, 'x');
  Bench throws([&](Context&) { throw std::runtime_error(text); });
  const Observation thrown = throws.run({call_of(1, 1)});
  EXPECT_EQ(thrown.fault->detail, std::string(kMostTargetTextBytes, 'x') + " [cut]");
  EXPECT_LT(thrown.fault->code.size(), 200u);
  Bench refuses([&](Context& ctx) { ctx.unsupported(text); });
  EXPECT_EQ(refuses.run({call_of(1, 1)}).message,
            std::string(kMostTargetTextBytes, 'x') + " [cut]");
  Bench fails([&](Context& ctx) { ctx.fail(text, text); });
  EXPECT_EQ(fails.run({call_of(1, 1)}).fault->code,
            std::string(kMostTargetCodeBytes, 'x') + " [cut]");
  Bench names([&](Context& ctx) { ctx.scratch(text, 64, 16, {}); });
  const Observation o = names.run({call_of(1, 1)});
  EXPECT_EQ(o.fault->code, "target-error");
  EXPECT_NE(o.fault->detail.find("1048576 bytes, at most 256"), std::string::npos);
}

TEST(Ending, WhatHasNoTextIsNotWithoutWords) {
  Bench fails([](Context& ctx) { ctx.fail("", ctx.dim("C") == 1 ? "" : "no room"); });
  const Observation o = fails.run({call_of(1, 1)});
  EXPECT_EQ(o.fault->code, kTargetErrorCode);
  EXPECT_EQ(o.fault->detail, "fail() without a code");
  EXPECT_EQ(fails.run({call_of(1, 2)}).fault->detail, "fail() without a code: no room");
  Bench refuses([](Context& ctx) { ctx.unsupported(""); });
  EXPECT_EQ(refuses.run({call_of(1, 1)}).message,
            "the target refuses the call, and gives no reason");
}

TEST(Ending, ErrorsOfTheWrapper) {
  Bench bench([](Context& ctx) {
    if (ctx.dim("C") == 2) ctx.fail("cublas-7", "not initialized");
    run_double(ctx);
  });
  const Observation o = bench.run({call_of(1, 1), call_of(1, 2), call_of(1, 3)});
  EXPECT_EQ(o.end, End::fault);
  EXPECT_EQ(o.fault->code, "cublas-7");
  EXPECT_EQ(o.fault->call, 1);
  EXPECT_EQ(o.fault->detail, "not initialized");
  EXPECT_FALSE(bench.runner().device_lost());
  EXPECT_EQ(o.calls.size(), 1u);
}

TEST(Ending, AForkedProcessDoesNotReturn) {
  const pid_t us = ::getpid();
  int status = -1;
  for (const bool throws : {false, true}) {
    Bench forks([&](Context& ctx) {
      if (const pid_t child = ::fork(); child != 0)
        ::waitpid(child, &status, 0);
      else if (throws)
        throw std::runtime_error("in the child");
      run_double(ctx);
    });
    const Observation o = forks.run({call_of(1, 1)});
    if (::getpid() != us) ::_exit(42);
    EXPECT_EQ(o.end, End::completed);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
}

TEST(Ending, Exceptions) {
  Bench standard([](Context&) { throw std::runtime_error("no plan for this shape"); });
  const Observation o = standard.run({call_of(1, 1)});
  EXPECT_EQ(o.end, End::fault);
  EXPECT_EQ(o.fault->code, "exception: std::runtime_error: no plan for this shape");
  EXPECT_EQ(o.fault->detail, "no plan for this shape");
  Bench other([](Context&) { throw 7; });
  EXPECT_EQ(other.run({call_of(1, 1)}).fault->code, "exception: int");
}

TEST(Ending, RefusedLaunchesNameTheKernelAndAreRecorded) {
  Bench bench([](Context& ctx) {
    launch(ctx, "wide", nothing_kernel, {{5, 1, 1}, {2048, 1, 1}, 16});
    run_double(ctx);
  });
  bench.device.refused = {"wide"};
  const Observation o = bench.run({call_of(1, 1)});
  EXPECT_EQ(o.end, End::fault);
  EXPECT_EQ(o.fault->code, "invalid-launch");
  EXPECT_EQ(o.fault->kernel, "wide");
  EXPECT_EQ(o.fault->call, 0);
  EXPECT_FALSE(bench.runner().device_lost());
  EXPECT_TRUE(bench.device.logged({"launch"}).empty());
}

TEST(Ending, LaunchesAreObservedAsDeclared) {
  Bench bench([](Context& ctx) { launch(ctx, "k", nothing_kernel, {{5, 4, 3}, {32, 2, 1}, 16}); });
  const Observation o = bench.run({call_of(1, 1)});
  LaunchObservation expected;
  expected.kernel = "k";
  expected.grid[0] = 5, expected.grid[1] = 4, expected.grid[2] = 3;
  expected.block[0] = 32, expected.block[1] = 2;
  expected.shared_bytes = 16;
  EXPECT_EQ(o.calls[0].launches, std::vector{expected});
}

TEST(Ending, VariantsThatTheDeviceLacks) {
  Bench bench([](Context& ctx) {
    const KernelRef k = ctx.variant({.name = "v", .host = kernel_ref("v", nothing_kernel)});
    launch_exact(ctx, k, {});
  });
  EXPECT_EQ(bench.run({call_of(1, 1)}).end, End::completed);
  EXPECT_EQ(bench.device.logged({"launch"}).size(), 1u);
  bench.device.unsupported = {"v"};
  const Observation o = bench.run({call_of(1, 1)});
  EXPECT_EQ(o.end, End::unsupported);
  EXPECT_NE(o.message.find("no compiler"), std::string::npos);
}

TEST(Ending, TargetsThatCannotBeMade) {
  Registry registry;
  ASSERT_TRUE(registry.add({double_spec(), DeviceKind::host, []() -> std::unique_ptr<Target> {
                              throw std::runtime_error("no license");
                            }}));
  FakeDevice device;
  trial::TrialRunner runner(device, registry, DeviceKind::host, nullptr, {});
  Plan plan;
  plan.target = "t";
  plan.steps = {CallStep{call_of(1, 1), 1, 0}};
  const Observation o = runner.run(plan, {});
  EXPECT_EQ(o.end, End::fault);
  EXPECT_EQ(o.fault->code, "exception: std::runtime_error: no license");
  EXPECT_EQ(o.fault->detail, "when it was made: no license");
  plan.target = "u";
  EXPECT_EQ(runner.run(plan, {}).end, End::worker_error);
}

TEST(Ending, MembersOfATargetLastForOneTrial) {
  struct Counting final : Target {
    int calls = 0;
    void run(Context& ctx) override {
      if (++calls > 2) ctx.fail("stale", "");
    }
  };
  Registry registry;
  ASSERT_TRUE(
      registry.add({double_spec(), DeviceKind::host, [] { return std::make_unique<Counting>(); }}));
  FakeDevice device;
  trial::TrialRunner runner(device, registry, DeviceKind::host, nullptr, {});
  Plan plan;
  plan.target = "t";
  plan.steps.assign(2, CallStep{call_of(1, 1), 1, 0});
  EXPECT_EQ(runner.run(plan, {}).end, End::completed);
  EXPECT_EQ(runner.run(plan, {}).end, End::completed);
  plan.steps.assign(3, CallStep{call_of(1, 1), 1, 0});
  EXPECT_EQ(runner.run(plan, {}).fault->call, 2);
}

}  // namespace
}  // namespace redzone::testing

// The oracle `order` over trials on the host device, in this process.
#include "oracles/order.h"

#include <gtest/gtest.h>
#include <redzone/bulk_copy.h>
#include <redzone/kernel.h>
#include <redzone/target.h>

#include <functional>
#include <memory>
#include <string>

#include "trial/device_trial_host.h"
#include "trial/value_kernels.h"

namespace redzone::oracles {
namespace {

using testing::add;
using testing::fill;

__global__ void twice(const float* x, float* y, int n) {
  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];
}

// y = x, or a deadlock unless p[0] is 3: a stand-in for an index that is followed.
__global__ void follow(const float* x, const float* p, float* y, int n) {
  __shared__ Barrier barrier;
  barrier_init(barrier, 1);
  if (p[0] == 3.0f) barrier_arrive(barrier);
  barrier_wait(barrier, 0);
  for (int i = 0; i < n; ++i) y[i] = x[i];
}

// Each block writes the same elements, so the order of the blocks decides.
__global__ void last_block(const float* x, float* y, int n) {
  for (int i = 0; i < n; ++i) y[i] = x[i] + static_cast<float>(blockIdx.x);
}

using Body = std::function<void(Context& ctx, int n)>;

// y from x, with a side stream; `run` is given for each target of a test.
struct AnyTarget : Target {
  explicit AnyTarget(Body body) : body_(std::move(body)) {}
  void run(Context& ctx) override { body_(ctx, static_cast<int>(ctx.dim("N"))); }
  Body body_;
};

float* input(Context& ctx) {
  return ctx.tensor("x").data<float>();
}
float* output(Context& ctx) {
  return ctx.tensor("y").data<float>();
}
std::size_t bytes(int n) {
  return static_cast<std::size_t>(n) * sizeof(float);
}

class OrderOracleTest : public ::testing::Test {
 protected:
  // The verdict on a plan whose calls are `body` on these streams.
  Verdict judge(const Body& body, const std::vector<std::int64_t>& streams = {0},
                Launch launch = Launch::async) {
    Plan plan;
    plan.mode.launch = launch;
    for (const auto stream : streams) plan.steps.emplace_back(CallStep{call(), 1, stream});
    return judge(body, std::move(plan));
  }
  Verdict judge(const Body& body, Plan plan) {
    plan.target = "t";
    TargetSpec spec;
    spec.name = "t";
    spec.dims = {{.name = "N", .min = 1}};
    spec.tensors = {{.name = "x", .shape = shape_of({"N"})},
                    {.name = "y", .role = Role::out, .shape = shape_of({"N"})}};
    spec.side_streams = 1;
    spec.concurrent_calls = true;
    Registry targets;
    EXPECT_TRUE(
        targets.add({spec, DeviceKind::host, [&] { return std::make_unique<AnyTarget>(body); }}));
    std::unique_ptr<trial::DeviceTrialHost> host;
    const auto run = [&](const TrialSpec& trial) {
      if (host == nullptr || host->device_lost())  // as a new worker
        host = std::make_unique<trial::DeviceTrialHost>(device::open_host_device(), targets,
                                                        nullptr, "");
      return host->run(plan, trial);
    };
    std::vector<Observation> seen;
    for (const auto& trial : oracle_.expand(plan, spec)) seen.push_back(run(trial));
    faults_ = 0;
    for (const auto& trial : oracle_.follow_up(plan, spec, seen)) {
      seen.push_back(run(trial));
      faults_ += seen.back().end == End::fault ? 1 : 0;
      EXPECT_TRUE(seen.back().end == End::completed || seen.back().end == End::fault)
          << seen.back().message;
    }
    trials_ = seen.size();
    return oracle_.judge(plan, spec, seen);
  }
  static Call call() {
    Call out;
    out.dims = {{"N", 40}};
    return out;
  }

  Verdict judge_under_schedule(const Body& body, std::uint64_t seed) {
    Plan plan;
    plan.mode.launch = Launch::async;
    plan.mode.schedule_seed = seed;
    plan.steps = {CallStep{call()}};
    return judge(body, std::move(plan));
  }

  OrderOracle oracle_;
  std::size_t trials_ = 0;
  std::size_t faults_ = 0;  // of the directed trials
};

// The call's own stream makes what a side stream reads.
Body side_reads(bool waits, bool waits_for_call = true) {
  return [waits, waits_for_call](Context& ctx, int n) {
    auto* p = static_cast<float*>(ctx.scratch("tmp", bytes(n)));
    if (waits_for_call) ctx.wait(1, 0);  // for x
    launch(ctx, "put", fill, {}, p, n, 3.0f);
    if (waits) ctx.wait(1, 0);
    launch(ctx, "add", add, {.stream = 1}, input(ctx), static_cast<const float*>(p), output(ctx),
           n);
    ctx.wait(0, 1);
  };
}

TEST_F(OrderOracleTest, AMissingWaitIsNamedWithBothOperationsTheirStreamsAndTheBuffer) {
  const Verdict v = judge(side_reads(false));
  ASSERT_TRUE(v.failed()) << v.reason;
  EXPECT_EQ(v.signature, (Signature{FailKind::order, "t", "put, add", "tmp", "", ""}));
  EXPECT_EQ(v.reason,
            "nothing orders 'put' of call 1 (N = 40) on stream 0 and 'add' of call 1 (N = 40) on "
            "side stream 1, which use 'tmp' of call 1 (N = 40); the outputs of call 1 (N = 40) "
            "depend on which is first");
  EXPECT_EQ(v.call, 0);
}

TEST(DescribeOperation, AKernelMayHaveTheNameOfAnotherOperation) {
  Plan plan;
  plan.target = "t";
  CallStep step;
  step.call.dims = {{"N", 3}};
  plan.steps = {step};
  const auto told = [&](OperationKind kind, std::int32_t call) {
    return describe_operation(plan, {.kind = kind, .name = "fill", .call = call});
  };
  EXPECT_EQ(told(OperationKind::fill, -1), "the fill of the tensors on stream 0");
  EXPECT_EQ(told(OperationKind::kernel, 0), "'fill' of call 1 (N = 3) on stream 0");
  EXPECT_EQ(describe_operation(plan, {.kind = OperationKind::memset, .name = "memset", .call = 0}),
            "the memset in call 1 (N = 3) on stream 0");
  EXPECT_EQ(told(OperationKind::free, 0), "the free in call 1 (N = 3) on stream 0");
  EXPECT_EQ(told(OperationKind::allocation, 0), "the allocation in call 1 (N = 3) on stream 0");
}

TEST_F(OrderOracleTest, AWaitLeavesNothingToTry) {
  EXPECT_EQ(judge(side_reads(true)).outcome, Outcome::pass);
  EXPECT_EQ(trials_, 1u);
}

TEST_F(OrderOracleTest, BlockingLaunchesLeaveNothingOpen) {
  EXPECT_EQ(judge(side_reads(false), {0}, Launch::blocking).outcome, Outcome::pass);
  EXPECT_EQ(trials_, 1u);
}

TEST_F(OrderOracleTest, FindsItWithBlockedLaunchesToo) {
  EXPECT_TRUE(judge(side_reads(false), {0}, Launch::gated).failed());
}

void read_twice(Context& ctx, int n) {
  auto* p = static_cast<float*>(ctx.scratch("tmp", bytes(n)));
  auto* q = static_cast<float*>(ctx.scratch("other", bytes(n)));
  launch(ctx, "put", fill, {}, p, n, 3.0f);
  ctx.wait(1, 0);
  launch(ctx, "twice", twice, {.stream = 1}, static_cast<const float*>(p), q, n);
  launch(ctx, "add", add, {}, input(ctx), static_cast<const float*>(p), output(ctx), n);
  ctx.wait(0, 1);
}

// Two kernels that read one buffer only may change it, as far as the record knows.
TEST_F(OrderOracleTest, ReadsOfOneBufferInAnyOrderPass) {
  const Verdict v = judge(read_twice);
  EXPECT_EQ(v.outcome, Outcome::pass) << v.reason;
  EXPECT_EQ(trials_, 6u);
}

TEST_F(OrderOracleTest, ASideStreamThatIsNotJoinedIsNamedWithTheEndOfTheCalls) {
  const Verdict v = judge([](Context& ctx, int n) {
    ctx.wait(1, 0);
    launch(ctx, "twice", twice, {.stream = 1}, input(ctx), output(ctx), n);
  });
  ASSERT_TRUE(v.failed()) << v.reason;
  EXPECT_EQ(v.signature.where, "twice, check");
  EXPECT_EQ(v.signature.buffer, "y");
}

// Each call writes one half of y on its own stream and the other on a side stream. What holds the
// second kernel of the first call back also holds back that of the second call.
TEST_F(OrderOracleTest, OfSeveralPairsTheOneWhoseBufferDiffersIsNamed) {
  const Body body = [](Context& ctx, int n) {
    ctx.wait(1, 0);
    launch(ctx, "first", twice, {}, input(ctx), output(ctx), n / 2);
    launch(ctx, "second", twice, {.stream = 1}, input(ctx) + n / 2, output(ctx) + n / 2, n - n / 2);
  };
  for (const Launch launch : {Launch::async, Launch::gated}) {
    const Verdict v = judge(body, {0, 0}, launch);
    ASSERT_TRUE(v.failed()) << v.reason;
    EXPECT_EQ(v.signature.where, "second, check") << v.reason;
    EXPECT_EQ(v.signature.buffer, "y");
  }
}

// Memory that the call asks for before, and its fill by the harness, order nothing.
TEST_F(OrderOracleTest, ASideStreamThatDoesNotWaitForTheCallIsNamedWithTheFill) {
  using Ask = std::function<void*(Context&, std::size_t)>;
  const std::vector<std::pair<const char*, Ask>> asks = {
      {"nothing", [](Context&, std::size_t) { return nullptr; }},
      {"scratch", [](Context& ctx, std::size_t size) { return ctx.scratch("tmp", size); }},
      {"workspace", [](Context& ctx, std::size_t size) { return ctx.workspace("tmp", size); }},
      {"allocate", [](Context& ctx, std::size_t size) { return ctx.allocate("tmp", size); }}};
  for (const auto& way : asks) {
    const char* const what = way.first;
    const Ask& ask = way.second;
    const Verdict v = judge([&](Context& ctx, int n) {
      if (auto* p = static_cast<float*>(ask(ctx, bytes(n))))
        launch(ctx, "put", fill, {}, p, n, 3.0f);
      launch(ctx, "twice", twice, {.stream = 1}, input(ctx), output(ctx), n);
      ctx.wait(0, 1);
    });
    ASSERT_TRUE(v.failed()) << what << ": " << v.reason;
    EXPECT_EQ(v.signature.where, "fill, twice") << what;
    EXPECT_EQ(v.signature.buffer, "x") << what;
  }
}

// One wait for the call's own stream behind 'put' would order both.
TEST_F(OrderOracleTest, WhatTheTargetDoesItselfIsNamedBeforeTheFill) {
  const Verdict v = judge(side_reads(false, false));
  ASSERT_TRUE(v.failed()) << v.reason;
  EXPECT_EQ(v.signature.where, "put, add");
}

// The memory is the side stream's once that has waited for the stream that it was allocated on.
Body uses_elsewhere(bool waits) {
  return [waits](Context& ctx, int n) {
    ctx.wait(1, 0);
    auto* p = static_cast<float*>(ctx.allocate("tmp", bytes(n)));
    if (waits) ctx.wait(1, 0);
    launch(ctx, "put", fill, {.stream = 1}, p, n, 3.0f);
    launch(ctx, "add", add, {.stream = 1}, input(ctx), static_cast<const float*>(p), output(ctx),
           n);
    ctx.wait(0, 1);
    ctx.free(p);
  };
}

TEST_F(OrderOracleTest, AUseThatIsNotBehindTheAllocationOnAnotherStreamIsNamedWithIt) {
  for (const Launch launch : {Launch::async, Launch::gated}) {
    const Verdict v = judge(uses_elsewhere(false), {0, 0}, launch);
    ASSERT_TRUE(v.failed()) << v.reason;
    EXPECT_EQ(v.signature.where, "allocation, put") << v.reason;
    EXPECT_EQ(v.signature.buffer, "tmp");
    EXPECT_EQ(judge(uses_elsewhere(true), {0, 0}, launch).outcome, Outcome::pass);
    EXPECT_EQ(trials_, 1u);
  }
}

Body follows(bool waits) {
  return [waits](Context& ctx, int n) {
    auto* p = static_cast<float*>(ctx.scratch("index", bytes(n)));
    ctx.wait(1, 0);
    launch(ctx, "put", fill, {}, p, n, 3.0f);
    if (waits) ctx.wait(1, 0);
    launch(ctx, "follow", follow, {.stream = 1}, input(ctx), static_cast<const float*>(p),
           output(ctx), n);
    ctx.wait(0, 1);
  };
}

TEST_F(OrderOracleTest, AFaultInOneOrderOnlyIsWhatTheOrderDecides) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const Verdict v = judge_under_schedule(follows(false), seed);
    ASSERT_TRUE(v.failed()) << seed << ": " << v.reason;
    EXPECT_EQ(v.signature, (Signature{FailKind::order, "t", "put, follow", "index", "", ""}));
    EXPECT_EQ(v.call, 0);
    EXPECT_NE(v.reason.find("; whether 'deadlock' ends call 1 (N = 40) depends on which is first"),
              std::string::npos)
        << v.reason;
    EXPECT_EQ(faults_, 2u);
    EXPECT_EQ(judge_under_schedule(follows(true), seed).outcome, Outcome::pass);
  }
}

// The pairs behind one whose trials all fault are judged, and none is called the cause.
TEST_F(OrderOracleTest, AFaultInEitherOrderIsNotWhatTheOrderDecides) {
  int trials = 0;
  const Verdict v = judge([&](Context& ctx, int n) {
    read_twice(ctx, n);
    if (trials++ > 0) ctx.fail("worn-out", "only the first trial completes");
  });
  EXPECT_EQ(v.outcome, Outcome::inconclusive) << v.reason;
}

// Nine pairs of reads that nothing orders, and behind them a write and a read: whatever a schedule
// makes of the rest, holding one pair back decides nothing about another.
TEST_F(OrderOracleTest, OfManyPairsTheOneThatMattersIsTriedAndNamed) {
  constexpr int kBenign = 9;
  const Body body = [](Context& ctx, int n) {
    std::vector<float*> shared, own, side;
    for (int k = 0; k < kBenign; ++k) {
      shared.push_back(static_cast<float*>(ctx.scratch("shared" + std::to_string(k), 64)));
      own.push_back(static_cast<float*>(ctx.scratch("own" + std::to_string(k), 64)));
      side.push_back(static_cast<float*>(ctx.scratch("side" + std::to_string(k), 64)));
    }
    auto* z = static_cast<float*>(ctx.scratch("z", bytes(n)));
    for (float* p : shared) launch(ctx, "put", fill, {}, p, 1, 3.0f);
    ctx.wait(1, 0);
    for (std::size_t k = 0; k < shared.size(); ++k) {
      launch(ctx, "peek", twice, {}, static_cast<const float*>(shared[k]), own[k], 1);
      launch(ctx, "peek", twice, {.stream = 1}, static_cast<const float*>(shared[k]), side[k], 1);
    }
    launch(ctx, "make", twice, {}, input(ctx), z, n);
    launch(ctx, "use", twice, {.stream = 1}, static_cast<const float*>(z), output(ctx), n);
    ctx.wait(0, 1);
  };
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const Verdict v = judge_under_schedule(body, seed);
    ASSERT_TRUE(v.failed()) << seed << ": " << v.reason;
    EXPECT_EQ(v.signature.where, "make, use") << seed << ": " << v.reason;
    EXPECT_EQ(v.signature.buffer, "z");
  }
}

// The order of the blocks of a kernel is no order of operations.
TEST_F(OrderOracleTest, AScheduleThatMattersIsNotNamedByAPairThatDoesNot) {
  const Body body = [](Context& ctx, int n) {
    auto* p = static_cast<float*>(ctx.scratch("tmp", bytes(n)));
    auto* q = static_cast<float*>(ctx.scratch("other", bytes(n)));
    launch(ctx, "put", fill, {}, p, n, 3.0f);
    ctx.wait(1, 0);
    launch(ctx, "peek", twice, {.stream = 1}, static_cast<const float*>(p), q, n);
    launch(ctx, "peek", add, {}, input(ctx), static_cast<const float*>(p), q, 0);
    launch(ctx, "last_block", last_block, {{4}}, input(ctx), output(ctx), n);
    ctx.wait(0, 1);
  };
  for (std::uint64_t seed = 0; seed < 40; ++seed)
    EXPECT_EQ(judge_under_schedule(body, seed).outcome, Outcome::pass) << seed;
}

Body frees(int stream, bool waits) {
  return [stream, waits](Context& ctx, int n) {
    auto* p = static_cast<float*>(ctx.allocate("tmp", bytes(n)));
    launch(ctx, "put", fill, {}, p, n, 3.0f);
    launch(ctx, "add", add, {}, input(ctx), static_cast<const float*>(p), output(ctx), n);
    if (waits) ctx.wait(stream, 0);
    ctx.free(p, stream);
  };
}

TEST_F(OrderOracleTest, AFreeOnAStreamThatDoesNotWaitForTheUse) {
  const Verdict v = judge(frees(1, false));
  ASSERT_TRUE(v.failed()) << v.reason;
  EXPECT_EQ(v.signature.kind, FailKind::order);
  EXPECT_EQ(v.signature.where, "put, free");
  EXPECT_EQ(v.signature.buffer, "tmp");
  EXPECT_EQ(judge(frees(1, true)).outcome, Outcome::pass);
  EXPECT_EQ(judge(frees(0, false)).outcome, Outcome::pass);
}

TEST_F(OrderOracleTest, AReadOfFreedMemoryIsCalledThatAndSaysWhoFreedIt) {
  for (const auto launch_mode : {Launch::async, Launch::blocking}) {
    const Verdict v = judge(
        [](Context& ctx, int n) {
          auto* p = static_cast<float*>(ctx.allocate("tmp", bytes(n)));
          launch(ctx, "put", fill, {}, p, n, 3.0f);
          ctx.free(p);
          launch(ctx, "add", add, {}, input(ctx), static_cast<const float*>(p), output(ctx), n);
        },
        {0}, launch_mode);
    ASSERT_TRUE(v.failed()) << v.reason;
    EXPECT_EQ(v.signature,
              (Signature{FailKind::use_after_free, "t", "add", "tmp", "inside", "read"}));
    EXPECT_EQ(v.reason,
              "use after free: 'add' of call 1 (N = 40) on stream 0 uses 'tmp' of call 1 (N = 40), "
              "which call 1 (N = 40) frees on stream 0; the outputs of call 1 (N = 40) depend on "
              "the bytes there");
  }
}

// The pointer is passed and not followed.
TEST_F(OrderOracleTest, APointerToFreedMemoryIsNoFailure) {
  const Verdict v = judge([](Context& ctx, int n) {
    auto* p = static_cast<float*>(ctx.allocate("tmp", bytes(n)));
    ctx.free(p);
    launch(ctx, "put", fill, {}, p, 0, 3.0f);
    launch(ctx, "twice", twice, {}, input(ctx), output(ctx), n);
  });
  EXPECT_EQ(v.outcome, Outcome::pass) << v.reason;
  EXPECT_EQ(trials_, 6u);
}

TEST_F(OrderOracleTest, CallsOnTwoStreamsThatShareAWorkspace) {
  const Body shares = [](Context& ctx, int n) {
    auto* p = static_cast<float*>(ctx.workspace("sum", bytes(n)));
    launch(ctx, "twice", twice, {}, input(ctx), p, n);
    launch(ctx, "add", add, {}, input(ctx), static_cast<const float*>(p), output(ctx), n);
    launch(ctx, "put", fill, {}, p, n, 0.0f);
  };
  const Verdict v = judge(shares, {0, 1});
  ASSERT_TRUE(v.failed()) << v.reason;
  EXPECT_EQ(v.signature.kind, FailKind::order);
  EXPECT_EQ(v.signature.buffer, "sum");
  EXPECT_EQ(judge(shares, {0, 0}).outcome, Outcome::pass);
}

TEST_F(OrderOracleTest, TheHostWritesWhatACopyHasNotRead) {
  int calls = 0;
  const Verdict v = judge(
      [&](Context& ctx, int n) {
        auto* host = static_cast<float*>(ctx.pinned_memory("block", sizeof(float)));
        auto* device = static_cast<float*>(ctx.scratch("block", bytes(n)));
        *host = static_cast<float>(++calls % 2);
        ctx.copy(device, host, sizeof(float));
        launch(ctx, "add", add, {}, input(ctx), static_cast<const float*>(device), output(ctx), 1);
      },
      {0, 0});
  ASSERT_TRUE(v.failed()) << v.reason;
  EXPECT_EQ(v.signature, (Signature{FailKind::order, "t", "copy, host", "block", "", ""}));
}

TEST_F(OrderOracleTest, AGraphWhoseMemoryWasFreed) {
  float* kept = nullptr;
  int calls = 0;
  Plan plan;
  plan.steps = {CallStep{call()}, CallStep{call(), 1, 0, 1}, CallStep{call()}, ReplayStep{}};
  const Verdict v = judge(
      [&](Context& ctx, int n) {
        const int of_trial = calls++ % 3;
        if (of_trial == 0) {
          kept = static_cast<float*>(ctx.allocate("made", bytes(n)));
          launch(ctx, "put", fill, {}, kept, n, 3.0f);
        }
        launch(ctx, "add", add, {}, input(ctx), static_cast<const float*>(kept), output(ctx), n);
        if (of_trial == 2) ctx.free(kept);
      },
      plan);
  ASSERT_TRUE(v.failed()) << v.reason;
  EXPECT_EQ(v.signature.kind, FailKind::use_after_free);
  EXPECT_EQ(v.signature.buffer, "made");
}

TEST_F(OrderOracleTest, ANondeterministicTargetWithoutAReferenceIsNotJudged) {
  TargetSpec spec;
  spec.deterministic = false;
  EXPECT_TRUE(oracle_.expand({}, spec).empty());
  EXPECT_EQ(oracle_.judge({}, spec, {}).outcome, Outcome::not_applicable);
}

// What a pair shows stands, whatever becomes of the pairs behind it.
TEST_F(OrderOracleTest, APairThatIsNotJudgedTakesNoFailureAway) {
  Plan plan;
  plan.target = "t";
  plan.steps = {CallStep{call()}};
  Observation seen;
  seen.end = End::completed;
  seen.order.emplace().directed = true;
  seen.order->candidates.resize(2);
  seen.calls.emplace_back().call = 0;
  seen.calls[0].buffers.push_back({.name = "y", .role = Role::out});
  std::vector<Observation> all(11, seen);
  for (const std::size_t second_first : {3, 4}) all[second_first].calls[0].buffers[0].digest = 7;
  all[8] = {};  // End::worker_error
  EXPECT_TRUE(oracle_.judge(plan, {}, all).failed());
  all.resize(6);
  EXPECT_TRUE(oracle_.judge(plan, {}, all).failed());
}

// A device whose worker lives on tells what was enqueued before a fault.
TEST_F(OrderOracleTest, AFaultOfTheFirstTrialTakesNoPairAway) {
  Plan plan;
  plan.target = "t";
  plan.steps = {CallStep{call()}};
  Observation directed;
  directed.end = End::completed;
  directed.order.emplace().directed = true;
  Observation fault;
  fault.end = End::fault;
  fault.fault = Fault{.code = "CUDA_ERROR_ILLEGAL_ADDRESS", .call = 0};
  fault.order.emplace().candidates.emplace_back().buffer = "index";
  ASSERT_EQ(oracle_.follow_up(plan, {}, std::vector{fault}).size(), 5u);
  const Verdict v =
      oracle_.judge(plan, {}, std::vector{fault, fault, directed, fault, fault, directed});
  ASSERT_TRUE(v.failed()) << v.reason;
  EXPECT_EQ(v.signature.kind, FailKind::order);
  EXPECT_EQ(v.signature.buffer, "index");
  EXPECT_EQ(oracle_.judge(plan, {}, std::vector(6, fault)).outcome, Outcome::inconclusive);
  // Each second trial of a process faults.
  EXPECT_EQ(oracle_.judge(plan, {}, std::vector{fault, directed, fault, directed, fault, directed})
                .outcome,
            Outcome::inconclusive);
  EXPECT_EQ(oracle_.judge(plan, {}, std::vector{fault, fault, directed, fault, directed, directed})
                .outcome,
            Outcome::inconclusive);
}

TEST_F(OrderOracleTest, APairWhoseOrderCouldNotBeForcedIsNoPass) {
  Plan plan;
  plan.steps = {CallStep{call()}};
  Observation seen;
  seen.end = End::completed;
  seen.order.emplace().candidates.emplace_back();
  const std::vector<Observation> all(6, seen);
  EXPECT_EQ(oracle_.judge(plan, {}, all).outcome, Outcome::inconclusive);
}

}  // namespace
}  // namespace redzone::oracles

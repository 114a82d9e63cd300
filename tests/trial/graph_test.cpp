// Graphs of a plan and graphs of a target, as requested from the device.
#include "trial/bench.h"

namespace redzone::testing {
namespace {

using Log = std::vector<std::string>;

CallStep graph_step(std::int64_t c, std::int64_t graph = 0, std::int64_t stream = 0,
                    std::int64_t repeat = 1) {
  return {call_of(1, c), repeat, stream, graph};
}

TEST(PlanGraphs, AreCapturedWhereTheyStandAndRunByTheirReplays) {
  Bench bench(run_named);
  bench.run(plan_of({graph_step(1, 1), graph_step(2, 1), graph_step(3), ReplayStep{1, 2}}), {});
  EXPECT_EQ(bench.device.log,
            (Log{"fill", "capture", "launch k1", "launch k2", "end capture", "launch k3", "fill",
                 "graph 0", "fill", "graph 0", "check", "sync"}));
}

TEST(PlanGraphs, SynchronizeAfterTheReplayWhenLaunchesBlock) {
  Bench bench(run_named);
  bench.run(plan_of({graph_step(1, 1), ReplayStep{1}}), {.mode = {.launch = Launch::blocking}});
  EXPECT_EQ(bench.device.log, (Log{"fill", "capture", "launch k1", "end capture", "fill", "graph 0",
                                   "sync", "check", "sync"}));
}

TEST(PlanGraphs, AReplayCountsForItsBodyWhileHeld) {
  Bench bench(run_named);
  bench.device.capacity = 5;
  bench.run(plan_of({graph_step(1, 1, 0, 3), ReplayStep{1, 2}}),
            {.mode = {.launch = Launch::gated}});
  EXPECT_EQ(bench.device.log,
            (Log{"fill", "hold", "capture", "launch k1", "launch k1", "launch k1", "end capture",
                 "fill", "graph 0", "open", "hold", "fill", "graph 0", "open", "check", "sync"}));
}

TEST(PlanGraphs, ForkAndAreJoinedByTheRunner) {
  Bench bench(run_named);
  bench.run(plan_of({graph_step(1, 1), WaitStep{1, 0}, graph_step(2, 1, 1), ReplayStep{1, 1, 1}}),
            {});
  EXPECT_EQ(bench.device.log, (Log{"fill", "wait 1 on 0", "capture", "launch k1", "wait 1 on 0",
                                   "launch k2 @1", "wait 0 on 1", "end capture", "fill @1",
                                   "graph 0 @1", "wait 0 on 1", "check", "sync"}));
}

TEST(PlanGraphs, ReplaysOnAnotherStreamComeBehindTheCallBeforeAndTheLastReplay) {
  TargetSpec spec = double_spec();
  for (const bool concurrent : {false, true}) {
    spec.concurrent_calls = concurrent;
    Bench bench(run_named, spec);
    bench.run(plan_of({graph_step(1, 1), ReplayStep{1}, graph_step(2, 0, 1), ReplayStep{1, 1, 1}}),
              {});
    EXPECT_EQ(bench.device.logged({"wait 1", "launch k2", "graph"}),
              concurrent
                  ? (Log{"wait 1 on 0", "graph 0", "launch k2 @1", "wait 1 on 0", "graph 0 @1"})
                  : (Log{"wait 1 on 0", "graph 0", "wait 1 on 0", "launch k2 @1", "wait 1 on 0",
                         "graph 0 @1"}));
  }
}

TEST(PlanGraphs, GiveTheObservationsOfPlainCalls) {
  Bench bench(run_double);
  const auto expected = bench.run(plan_of({graph_step(3), graph_step(4)}), {}).calls;
  ASSERT_EQ(expected.size(), 2u);
  for (const auto launch : {Launch::blocking, Launch::async, Launch::gated}) {
    const Plan plan = plan_of({graph_step(3, 1), graph_step(4), ReplayStep{1, 2}, ReplayStep{1}});
    EXPECT_EQ(bench.run(plan, {.mode = {.launch = launch}}).calls, expected);
    EXPECT_EQ(bench.run(plan, {.mode = {.launch = launch}, .plain_graphs = true}).calls, expected);
    EXPECT_EQ(bench.run(plan, {.mode = {.launch = launch}, .order = {1, 0}}).calls, expected);
  }
}

TEST(PlanGraphs, PlainlyRunAtTheCaptureAndAtEachReplay) {
  Bench bench(run_named);
  const Plan plan =
      plan_of({graph_step(1, 1), graph_step(2, 1), graph_step(3), ReplayStep{1, 5}, ReplayStep{1}});
  const Observation o = bench.run(plan, {.plain_graphs = true});
  EXPECT_EQ(bench.device.logged({"launch", "capture"}),
            (Log{"launch k1", "launch k2", "launch k3", "launch k1", "launch k2", "launch k1",
                 "launch k2"}));
  ASSERT_EQ(o.calls.size(), 3u);
  EXPECT_EQ(o.calls[0].launches.size(), 1u) << "of the first run";
}

// y = x + the previous contents of y and of scratch.
void add_kernel(Matrix x, Matrix y, float* s) {
  y.at(0, 0) += x.at(0, 0) + *s;
  *s = 1000;
}

TEST(PlanGraphs, EachReplayMeetsFreshOutputsAndScratch) {
  TargetSpec spec = double_spec();
  spec.tensors[1].role = Role::inout;
  const auto run = [](Context& ctx) {
    auto* s = static_cast<float*>(ctx.scratch("s", 4, 4));
    launch(ctx, "add", add_kernel, {}, matrix(ctx.tensor("x")), matrix(ctx.tensor("y")), s);
  };
  const Mode mode{.poison = 0x3f800000};
  Bench bench(run, spec);
  const auto expected = bench.run(plan_of({graph_step(1)}), {.mode = mode}).calls;
  EXPECT_EQ(bench.run(plan_of({graph_step(1, 1), ReplayStep{1, 3}}), {.mode = mode}).calls,
            expected);
}

TEST(PlanGraphs, EachReplayMeetsFreshMemoryThatItsCallsAllocateAndFree) {
  TargetSpec spec = double_spec();
  spec.tensors[1].role = Role::inout;
  const auto run = [](Context& ctx) {
    auto* s = static_cast<float*>(ctx.allocate("s", 4));
    launch(ctx, "add", add_kernel, {}, matrix(ctx.tensor("x")), matrix(ctx.tensor("y")), s);
    ctx.free(s);
  };
  const auto output = [](const Observation& o) { return buffer(o, 0, "y").digest; };
  for (const auto allocator : {Allocator::guard, Allocator::caching}) {
    const Mode mode{.allocator = allocator, .poison = 0x3f800000};
    Bench bench(run, spec);
    const auto expected = output(bench.run(plan_of({graph_step(1)}), {.mode = mode}));
    const Observation o = bench.run(plan_of({graph_step(1, 1), ReplayStep{1, 3}}), {.mode = mode});
    EXPECT_EQ(output(o), expected);
    EXPECT_EQ(buffer(o, 0, "s").dirty_before + buffer(o, 0, "s").dirty_after, 0u);
  }
}

// The memory is filled once; later contents, from calls and replays, belong to the target.
TEST(PlanGraphs, MemoryThatOutlivesTheCaptureKeepsWhatIsInIt) {
  float* kept = nullptr;
  const auto run = [&](Context& ctx) {
    if (ctx.dim("C") == 1) kept = static_cast<float*>(ctx.allocate("s", 4));
    if (ctx.dim("C") == 2) launch(ctx, "store", store_kernel, {}, kept, 7.0f);
    if (ctx.dim("C") == 1)
      launch(ctx, "add", add_kernel, {}, matrix(ctx.tensor("x")), matrix(ctx.tensor("y")), kept);
  };
  TargetSpec spec = double_spec();
  spec.tensors[1].role = Role::inout;
  Bench bench(run, spec);
  bench.run(plan_of({graph_step(1, 1), graph_step(2), ReplayStep{1}}), {});
  EXPECT_EQ(*kept, 1000.0f);
  const Observation o = bench.run(plan_of({graph_step(1, 1), ReplayStep{1}, graph_step(2)}), {});
  EXPECT_EQ(*kept, 7.0f);
  EXPECT_EQ(buffer(o, 0, "s").dirty_before + buffer(o, 0, "s").dirty_after, 0u);
}

TEST(PlanGraphs, TakeCopiesAndMemsetsToo) {
  const auto run = [](Context& ctx) {
    auto* host = static_cast<float*>(ctx.pinned_memory("args", 4));
    *host = 5;
    ctx.memset(ctx.tensor("y").base, 1, 4);
    ctx.copy(ctx.tensor("y").base, host, 4);
  };
  Bench bench(run);
  for (const auto launch : {Launch::blocking, Launch::async, Launch::gated}) {
    const auto expected = bench.run(plan_of({graph_step(1)}), {.mode = {.launch = launch}}).calls;
    const Observation o =
        bench.run(plan_of({graph_step(1, 1), ReplayStep{1, 2}}), {.mode = {.launch = launch}});
    EXPECT_EQ(o.end, End::completed) << o.message;
    EXPECT_EQ(o.calls, expected);
  }
}

TEST(PlanGraphs, DamageOfAnEarlierReplayIsKept) {
  int runs = 0;
  const auto run = [&](Context& ctx) {
    auto* s = static_cast<float*>(ctx.scratch("s", 4, 4));
    ++runs;
    launch(ctx, "past", store_kernel, {}, s - 1, 3.0f);
  };
  Bench bench(run);
  const Observation o = bench.run(plan_of({graph_step(1, 1), ReplayStep{1, 2}}), {});
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(buffer(o, 0, "s").dirty_before, 4u);
}

TEST(PlanGraphs, WorkspacesOfACapturedCallAreZeroBeforeItRuns) {
  const auto run = [](Context& ctx) {
    auto* w = static_cast<float*>(ctx.workspace("w", 4, 4));
    launch(ctx, "add", add_kernel, {}, matrix(ctx.tensor("x")), matrix(ctx.tensor("y")), w);
  };
  TargetSpec spec = double_spec();
  spec.tensors[1].role = Role::inout;
  Bench bench(run, spec);
  const auto expected = bench.run(plan_of({graph_step(1)}), {}).calls.at(0).buffers;
  EXPECT_EQ(bench.run(plan_of({graph_step(1, 1), ReplayStep{1}}), {}).calls.at(0).buffers,
            expected);
  EXPECT_EQ(bench.device.log, (Log{"fill", "capture", "launch add", "end capture", "fill", "fill",
                                   "graph 0", "check", "sync"}));
}

TEST(PlanGraphs, StayInOneSegmentFromTheCaptureToTheLastReplay) {
  Bench bench(run_named, double_spec(), {}, {.calls = 1});
  bench.run(plan_of({graph_step(1), graph_step(2, 1), graph_step(3), ReplayStep{1}, graph_step(4)}),
            {});
  EXPECT_EQ(bench.device.logged({"launch", "capture", "graph", "check"}),
            (Log{"launch k1", "check", "capture", "launch k2", "launch k3", "graph 0", "check",
                 "launch k4", "check"}));
}

TEST(PlanGraphs, ThatWereNotReplayedAreNotObserved) {
  const auto run = [](Context& ctx) {
    run_named(ctx);
    if (ctx.dim("C") == 2) ctx.unsupported("no");
  };
  Bench bench(run);
  const Observation o =
      bench.run(plan_of({graph_step(3), graph_step(1, 1), graph_step(2), ReplayStep{1}}), {});
  EXPECT_EQ(o.end, End::unsupported);
  ASSERT_EQ(o.calls.size(), 2u);
  EXPECT_EQ(o.calls[0].call, 0);
  EXPECT_EQ(o.calls[1].call, 2) << "the one that was refused, as far as it ran";
}

TEST(PlanGraphs, ACaptureIsEndedWhenTheTargetThrows) {
  Bench bench([](Context& ctx) {
    run_named(ctx);
    throw std::runtime_error("thrown");
  });
  const Plan plan = plan_of({graph_step(1, 1), ReplayStep{1}});
  for (int i = 0; i < 2; ++i) {
    const Observation o = bench.run(plan, {});
    EXPECT_EQ(o.end, End::fault);
    EXPECT_EQ(o.fault->detail, "thrown");
    EXPECT_EQ(bench.device.logged({"capture", "end capture"}), (Log{"capture", "end capture"}));
  }
}

TEST(PlanGraphs, WhatCannotBeCapturedIsUnsupportedWithTheCode) {
  for (const bool throws : {false, true}) {
    Bench bench([&](Context& ctx) {
      run_named(ctx);
      if (throws) throw std::runtime_error("operation not permitted when stream is capturing");
    });
    bench.device.no_captures = true;
    const Observation o = bench.run(plan_of({graph_step(1, 1), ReplayStep{1}}), {});
    EXPECT_EQ(o.end, End::unsupported);
    EXPECT_FALSE(o.fault.has_value());
    EXPECT_NE(o.message.find("CUDA_ERROR_STREAM_CAPTURE_INVALIDATED"), std::string::npos);
  }
}

TEST(PlanGraphs, ARefusedLaunchOfTheirsIsAFindingAllTheSame) {
  Bench bench(run_named);
  bench.device.refused = {"k1"};
  bench.device.no_captures = true;
  const Observation o = bench.run(plan_of({graph_step(1, 1), ReplayStep{1}}), {});
  EXPECT_EQ(o.end, End::fault);
  EXPECT_EQ(o.fault->code, "invalid-launch");
}

TEST(PlanGraphs, AFaultOfTheOnlyReplayIsThatOfItsCall) {
  Bench bench(run_named);
  bench.device.faulting = {"k2"};
  const Observation o =
      bench.run(plan_of({graph_step(1), SyncStep{}, graph_step(2, 1), ReplayStep{1}}), {});
  EXPECT_EQ(o.end, End::fault);
  EXPECT_EQ(o.fault->call, 1);
  EXPECT_EQ(o.fault->kernel, "k2");
}

TEST(PlanGraphs, UnknownOnesAreErrorsOfTheHarness) {
  Bench bench(run_named);
  for (const auto& plan :
       {plan_of({graph_step(1), ReplayStep{1}}), plan_of({graph_step(1, 9), ReplayStep{9}}),
        plan_of({graph_step(1, 1), ReplayStep{1, 0}})})
    EXPECT_EQ(bench.run(plan, {}).end, End::worker_error);
}

// ---- Of the target -----------------------------------------------------------------------------

// Captures at its first call and replays at every call.
class Graphing {
 public:
  void operator()(Context& ctx) {
    if (!graph_) {
      ctx.begin_capture();
      auto* s = static_cast<float*>(ctx.scratch("s", 4, 4));
      launch(ctx, "store", store_kernel, {}, s, 1.0f);
      graph_ = ctx.end_capture();
    }
    ctx.replay(graph_);
  }

 private:
  GraphRef graph_;
};

TEST(TargetGraphs, AreReplayedByLaterCalls) {
  Bench bench(Graphing{});
  const Observation o = bench.run({call_of(1, 1), call_of(1, 2)});
  EXPECT_EQ(o.end, End::completed) << o.message;
  EXPECT_EQ(bench.device.log, (Log{"fill", "capture", "launch store", "end capture", "fill",
                                   "graph 0", "graph 0", "check", "sync"}));
}

TEST(TargetGraphs, CannotBeCapturedByAPlan) {
  Bench bench(Graphing{});
  const Observation o = bench.run(plan_of({graph_step(1, 1), ReplayStep{1}}), {});
  EXPECT_EQ(o.end, End::unsupported);
  EXPECT_NE(o.message.find("captures a graph itself"), std::string::npos) << o.message;
}

std::string fault_of_capture(RunFunction run) {
  Bench bench(std::move(run));
  const Observation o = bench.run({call_of(1, 1)});
  if (o.end != End::fault) return "no fault";
  EXPECT_EQ(o.fault->call, 0);
  const auto captures = bench.device.logged({"capture"}).size();
  EXPECT_EQ(bench.device.logged({"end capture"}).size(), captures);
  return o.fault->code + ": " + o.fault->detail;
}

TEST(TargetGraphs, MistakesOfTheTargetAreNamed) {
  EXPECT_EQ(fault_of_capture([](Context& ctx) { ctx.end_capture(); }),
            "target-error: end_capture() without a begin_capture()");
  EXPECT_EQ(fault_of_capture([](Context& ctx) {
              ctx.begin_capture();
              ctx.begin_capture();
            }),
            "target-error: begin_capture() inside of a capture");
  EXPECT_EQ(fault_of_capture([](Context& ctx) { ctx.begin_capture(); }),
            "target-error: run() returned inside of its capture");
  EXPECT_EQ(fault_of_capture([](Context& ctx) { ctx.replay({}); }),
            "target-error: replay of graph 0, which does not exist");
  EXPECT_EQ(fault_of_capture([](Context& ctx) {
              ctx.begin_capture();
              throw std::runtime_error("thrown");
            }),
            "exception: std::runtime_error: thrown: thrown");
}

}  // namespace
}  // namespace redzone::testing

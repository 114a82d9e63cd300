// Order, streams, launch modes, and attribution of late faults.
#include <set>

#include "trial/bench.h"

namespace redzone::testing {
namespace {

using Log = std::vector<std::string>;

CallStep mode_step(std::int64_t c, std::int64_t repeat = 1, std::int64_t stream = 0) {
  return {call_of(1, c), repeat, stream};
}

TEST(Modes, AsyncEnqueuesEverythingBeforeItSynchronizes) {
  Bench bench(run_named);
  bench.run({call_of(1, 1), call_of(1, 2)});
  EXPECT_EQ(bench.device.log, (Log{"fill", "launch k1", "launch k2", "check", "sync"}));
}

TEST(Modes, BlockingSynchronizesAfterEachLaunch) {
  Bench bench(run_named);
  bench.run({call_of(1, 1), call_of(1, 2)}, {.launch = Launch::blocking});
  EXPECT_EQ(bench.device.log,
            (Log{"fill", "launch k1", "sync", "launch k2", "sync", "check", "sync"}));
}

TEST(Modes, BlockingSynchronizesAfterACallThatMayEnqueueByItself) {
  for (auto launch : {Launch::blocking, Launch::async}) {
    Bench bench([](Context& ctx) { ctx.stream(); });
    bench.run({call_of(1, 1), call_of(1, 2)}, {.launch = launch});
    EXPECT_EQ(bench.device.log, launch == Launch::blocking
                                    ? (Log{"fill", "sync", "sync", "check", "sync"})
                                    : (Log{"fill", "check", "sync"}));
  }
}

TEST(Modes, GatedHoldsTheCalls) {
  Bench bench(run_named);
  bench.run({call_of(1, 1), call_of(1, 2)}, {.launch = Launch::gated});
  EXPECT_EQ(bench.device.log,
            (Log{"fill", "hold", "launch k1", "launch k2", "open", "check", "sync"}));
}

TEST(Modes, GatedOpensInPartsWhenTheDeviceHoldsNoMore) {
  Bench bench(run_named);
  bench.device.capacity = 2;
  bench.run(plan_of({mode_step(1, 3)}), {.mode = {.launch = Launch::gated}});
  EXPECT_EQ(bench.device.log, (Log{"fill", "hold", "launch k1", "launch k1", "open", "hold",
                                   "launch k1", "open", "check", "sync"}));
}

TEST(Modes, GatedHoldsAgainAfterASyncStep) {
  Bench bench(run_named);
  bench.run(plan_of({mode_step(1), SyncStep{}, mode_step(2)}), {.mode = {.launch = Launch::gated}});
  EXPECT_EQ(bench.device.log, (Log{"fill", "hold", "launch k1", "sync", "hold", "launch k2", "open",
                                   "check", "sync"}));
}

TEST(Modes, StreamsAreForkedBehindTheFillAndJoinedBeforeTheCheck) {
  Bench bench(run_named);
  bench.run(plan_of({mode_step(1, 1, 1), WaitStep{0, 1}, mode_step(2)}), {});
  EXPECT_EQ(bench.device.log, (Log{"fill", "wait 1 on 0", "launch k1 @1", "wait 0 on 1",
                                   "launch k2", "wait 0 on 1", "check", "sync"}));
}

TEST(Modes, WithoutChecksInputsAreFilledAndNothingElseIsTouched) {
  float *x = nullptr, *y = nullptr, *tmp = nullptr;
  const auto run = [&](Context& ctx) {
    x = ctx.tensor("x").data<float>();
    y = ctx.tensor("y").data<float>();
    tmp = static_cast<float*>(ctx.scratch("tmp", sizeof(float), sizeof(float)));
    *x = *y = *tmp = 7;  // before any enqueued work runs
    run_named(ctx);
  };
  Bench bench(run, double_spec(), [](ReferenceCall&) { FAIL() << "compared"; }, {.checks = false});
  const Plan plan = plan_of({mode_step(1)});
  const Observation o = bench.run(plan, {.reference = true});
  EXPECT_EQ(o.end, End::completed) << o.message;
  EXPECT_TRUE(o.calls.empty());
  EXPECT_EQ(bench.device.log, (Log{"fill", "launch k1", "sync"}));
  EXPECT_TRUE(bench.device.watched.empty());
  EXPECT_NE(*x, 7);
  EXPECT_EQ(*y, 7);
  EXPECT_EQ(*tmp, 7);
}

TEST(Modes, ScratchIsFilledBeforeTheLaunchThatMayUseIt) {
  Bench bench([](Context& ctx) {
    ctx.scratch("a", 16, 8);
    ctx.scratch("b", 16, 8);
    run_named(ctx);
    ctx.scratch("c", 16, 8);  // no launch follows
  });
  const Observation o = bench.run({call_of(1, 1)});
  EXPECT_EQ(bench.device.log, (Log{"fill", "fill", "launch k1", "fill", "check", "sync"}));
  for (const char* name : {"a", "b", "c"}) EXPECT_EQ(buffer(o, 0, name).dirty_after, 0u);
}

// Work that a target enqueues on its stream by itself cannot be observed.
TEST(Modes, ScratchIsFilledAtOnceForATargetThatHasAStream) {
  Log seen;
  FakeDevice* device = nullptr;
  Bench bench([&](Context& ctx) {
    ctx.scratch("a", 16, 8);
    if (ctx.dim("C") == 1) ctx.stream();
    ctx.scratch("b", 16, 8);
    seen = device->log;
  });
  device = &bench.device;
  bench.run({call_of(1, 1)});
  EXPECT_EQ(seen, (Log{"fill", "fill", "fill"}));
  // The target may have kept the handle.
  bench.device.log.clear();
  bench.run({call_of(1, 2)});
  EXPECT_EQ(seen, (Log{"fill", "fill", "fill"}));
}

TEST(Modes, SegmentsOfSeveralStreamsAreSynchronized) {
  Bench bench(run_named, double_spec(), {}, {.calls = 1});
  bench.run(plan_of({mode_step(1, 1, 1), mode_step(2)}), {});
  EXPECT_EQ(bench.device.logged({"fill", "launch", "sync"}),
            (Log{"fill", "launch k1 @1", "sync", "fill", "launch k2", "sync"}));
}

TEST(Modes, WorkspacesAreZeroBeforeAnyStreamUsesThem) {
  Bench bench([](Context& ctx) {
    ctx.workspace("w", 16);
    run_named(ctx);
  });
  bench.run(plan_of({mode_step(1, 1, 1), mode_step(2)}), {});
  EXPECT_EQ(bench.device.log, (Log{"fill", "wait 1 on 0", "fill @1", "wait 0 on 1", "launch k1 @1",
                                   "wait 0 on 1", "launch k2", "wait 0 on 1", "check", "sync"}));
}

TEST(Order, RunsTheCallsAloneAndOnStreamZero) {
  Bench bench(run_named);
  const Plan plan =
      plan_of({mode_step(1, 3, 1), SyncStep{}, mode_step(2), WaitStep{1, 0}, mode_step(3, 1, 1)});
  const Observation o = bench.run(plan, {.order = {2, 0, 1}});
  EXPECT_EQ(bench.device.log,
            (Log{"fill", "launch k3", "launch k1", "launch k2", "check", "sync"}));
  ASSERT_EQ(o.calls.size(), 3u);
  for (std::int32_t i = 0; i < 3; ++i) EXPECT_EQ(o.calls[static_cast<std::size_t>(i)].call, i);
}

// A fault of the call that runs first cannot mean what the other one names.
TEST(Order, BuffersAreNamedWithTheTurnOfTheirCall) {
  Bench bench([](Context& ctx) {
    launch(ctx, "store", store_kernel, {}, static_cast<float*>(ctx.scratch("tmp", 16)), 1.0f);
  });
  const Plan plan = plan_of({mode_step(1), mode_step(2)});
  const auto turn = [&](std::size_t call) {
    std::set<std::int32_t> turns;
    for (const auto& range : bench.device.watched)
      if (range.call == static_cast<std::int32_t>(call)) turns.insert(range.position);
    return turns;
  };
  bench.run(plan, {.order = {1, 0}});
  EXPECT_EQ(turn(0), std::set{1});
  EXPECT_EQ(turn(1), std::set{0});
  bench.run(plan, {});
  EXPECT_EQ(turn(1), std::set{-1}) << "as numbered";
}

TEST(Order, GivesTheSameObservationsOfIndependentCalls) {
  Bench bench(run_double);
  const Plan plan = plan_of({mode_step(1), mode_step(2), mode_step(3)});
  EXPECT_EQ(bench.run(plan, {}).calls, bench.run(plan, {.order = {1, 2, 0}}).calls);
}

TEST(Order, OutOfRangeIsAnErrorOfTheHarness) {
  Bench bench(run_named);
  EXPECT_EQ(bench.run(plan_of({mode_step(1)}), {.order = {1}}).end, End::worker_error);
  EXPECT_EQ(bench.run(plan_of({mode_step(1, 1, kMaxStreams)}), {}).end, End::worker_error);
  EXPECT_EQ(bench.run(plan_of({mode_step(1, 0)}), {}).end, End::worker_error);
  EXPECT_EQ(bench.run(plan_of({mode_step(1)}), {}).end, End::completed);
}

// A fault in one kernel among calls with C = 1, 2, 3.
Observation fault_of(const std::string& kernel, Plan plan, Launch launch) {
  Bench bench(run_named);
  bench.device.keep_quiet_about_calls();
  bench.device.faulting = {kernel};
  Observation o = bench.run(plan, {.mode = {.launch = launch}});
  EXPECT_EQ(o.end, End::fault);
  EXPECT_EQ(o.fault->code, "CUDA_ERROR_ILLEGAL_ADDRESS");
  EXPECT_TRUE(bench.runner().device_lost());
  EXPECT_TRUE(o.calls.empty());
  return o;
}

TEST(Blame, BlockingKnowsTheCallAndTheKernel) {
  const Observation o =
      fault_of("k2", plan_of({mode_step(1), mode_step(2), mode_step(3)}), Launch::blocking);
  EXPECT_EQ(o.fault->call, 1);
  EXPECT_EQ(o.fault->kernel, "k2");
}

TEST(Blame, AsyncKnowsTheOnlyCallSinceTheLastSynchronization) {
  const Plan plan = plan_of({mode_step(1), SyncStep{}, mode_step(2, 3), SyncStep{}, mode_step(3)});
  const Observation o = fault_of("k2", plan, Launch::async);
  EXPECT_EQ(o.fault->call, 1);
  EXPECT_EQ(o.fault->kernel, "k2");
}

TEST(Blame, SaysHowTheCallIsKnown) {
  EXPECT_EQ(fault_of("k2", plan_of({mode_step(1), mode_step(2)}), Launch::blocking).fault->known_by,
            "blocking launches");
  EXPECT_EQ(fault_of("k2", plan_of({mode_step(2)}), Launch::async).fault->known_by,
            "only call in flight");
}

TEST(Blame, MarksTellTheCallsOfARelaxedTrialApart) {
  for (auto launch : {Launch::async, Launch::gated})
    for (std::int64_t c : {1, 2, 3}) {
      const Observation o = fault_of(
          "k" + std::to_string(c), plan_of({mode_step(1), mode_step(2, 5), mode_step(3)}), launch);
      EXPECT_EQ(o.fault->call, c - 1);
      EXPECT_EQ(o.fault->kernel, "k" + std::to_string(c));
      EXPECT_EQ(o.fault->known_by, "progress markers");
    }
}

TEST(Blame, AReorderedTrialNamesTheCallOfThePlan) {
  Bench bench(run_named);
  bench.device.keep_quiet_about_calls();
  bench.device.faulting = {"k1"};
  const Observation o =
      bench.run(plan_of({mode_step(1), mode_step(2), mode_step(3)}), {.order = {2, 0, 1}});
  EXPECT_EQ(o.fault->call, 0);
  EXPECT_EQ(o.fault->kernel, "k1");
}

TEST(Blame, OfACallWithSeveralKernelsAllAreNamed) {
  Bench bench([](Context& ctx) {
    run_named(ctx);
    launch(ctx, "again", nothing_kernel, {});
  });
  bench.device.keep_quiet_about_calls();
  bench.device.faulting = {"k2"};
  const Observation o = bench.run({call_of(1, 1), call_of(1, 2)});
  EXPECT_EQ(o.fault->call, 1);
  EXPECT_EQ(o.fault->kernel, "");
  EXPECT_NE(o.fault->detail.find("one of its kernels k2, again"), std::string::npos)
      << o.fault->detail;
}

TEST(Blame, AStreamThatWasGivenOutMayHoldTheFault) {
  Bench bench([](Context& ctx) {
    if (ctx.dim("C") == 1)
      ctx.stream();
    else
      run_named(ctx);
  });
  bench.device.keep_quiet_about_calls();
  bench.device.faulting = {"k2"};
  const Observation o = bench.run({call_of(1, 1), call_of(1, 2)});
  EXPECT_EQ(o.fault->call, 1);  // the progress marker after the first call was reached
  EXPECT_EQ(o.fault->known_by, "progress markers");
}

TEST(ProgressMarksOfATrial, AreNotSetWithoutChecks) {
  Bench bench(run_named, double_spec(), {}, {.checks = false});
  bench.device.keep_quiet_about_calls();
  bench.run(plan_of({mode_step(1), mode_step(2)}), {});
  EXPECT_EQ(bench.device.logged({"launch", "mark"}), (Log{"launch k1", "launch k2"}));
}

TEST(ProgressMarksOfATrial, StandBetweenCallsOnly) {
  Bench bench(run_named);
  bench.device.keep_quiet_about_calls();
  bench.run(plan_of({mode_step(1, 2), mode_step(2), mode_step(3, 1, 1)}),
            {.mode = {.launch = Launch::gated}});
  EXPECT_EQ(bench.device.logged({"launch", "mark"}),
            (Log{"launch k1", "launch k1", "mark 1", "launch k2", "mark 2", "launch k3 @1"}));
  bench.run(plan_of({mode_step(1), mode_step(2)}), {.mode = {.launch = Launch::blocking}});
  EXPECT_EQ(bench.device.logged({"mark"}), Log{});
  bench.run(plan_of({mode_step(1, 3)}), {});
  EXPECT_EQ(bench.device.logged({"mark"}), Log{});
  bench.run(plan_of({mode_step(1), SyncStep{}, mode_step(2)}), {});
  EXPECT_EQ(bench.device.logged({"mark"}), Log{});
}

TEST(ProgressMarksOfATrial, CountUnderTheGate) {
  Bench bench(run_named);
  bench.device.keep_quiet_about_calls();
  bench.device.capacity = 2;
  bench.run(plan_of({mode_step(1), mode_step(2)}), {.mode = {.launch = Launch::gated}});
  EXPECT_EQ(bench.device.logged({"launch", "mark", "hold", "open"}),
            (Log{"hold", "launch k1", "mark 1", "open", "hold", "launch k2", "open"}));
}

TEST(Blame, AFaultExplainsTheErrorThatItCaused) {
  Bench bench([](Context& ctx) {
    run_named(ctx);
    if (ctx.dim("C") == 2) ctx.fail("library", "internal error");
  });
  bench.device.faulting = {"k1"};
  const Observation o = bench.run({call_of(1, 1), call_of(1, 2)});
  EXPECT_EQ(o.fault->code, "CUDA_ERROR_ILLEGAL_ADDRESS");
  EXPECT_NE(o.fault->detail.find("library: internal error"), std::string::npos);
}

TEST(Blame, TheHostDeviceSaysWhatIsRunning) {
  Bench bench([&](Context& ctx) { run_named(ctx); });
  bench.device.faulting = {"k2"};
  bench.box.call_running = 1;
  device::copy_name(bench.box.kernel, "k2");
  const Observation o = bench.run({call_of(1, 1), call_of(1, 2)});
  EXPECT_EQ(o.fault->call, 1);
  EXPECT_EQ(o.fault->kernel, "k2");
}

TEST(Marks, SayHowFarTheTrialCame) {
  std::vector<std::pair<std::int32_t, std::int32_t>> marks;
  std::vector<device::Phase> phases;
  device::BlackBox* box = nullptr;
  Bench bench([&](Context&) {
    marks.emplace_back(box->call_begun, box->call_ended);
    phases.push_back(box->phase);
  });
  box = &bench.box;
  bench.run({call_of(1, 1), call_of(1, 2)});
  EXPECT_EQ(marks, (std::vector<std::pair<std::int32_t, std::int32_t>>{{0, -1}, {1, 0}}));
  EXPECT_EQ(phases, (std::vector<device::Phase>(2, device::Phase::running)));
  EXPECT_EQ(bench.box.call_ended, 1);
  EXPECT_EQ(bench.box.phase, device::Phase::reporting);
}

TEST(Watch, NamesEveryBufferBeforeItIsUsed) {
  std::vector<std::string> names;
  FakeDevice* device = nullptr;
  Bench bench([&](Context& ctx) {
    void* tmp = ctx.scratch("tmp", 24, 8);
    run_named(ctx);
    for (const auto& range : device->watched)
      if (range.call == 1) {
        names.push_back(range.name);
        if (range.name == "tmp") {
          EXPECT_EQ(range.begin, tmp);
          EXPECT_EQ(range.end - range.begin, 24);
        }
      }
  });
  device = &bench.device;
  Plan plan = plan_of({mode_step(1), mode_step(2)});
  bench.run(plan, {.order = {1}});
  EXPECT_EQ(names, (std::vector<std::string>{"x", "y", "tmp"}));
}

// Work in flight may fault beside a buffer of a finished segment.
TEST(Watch, TellsOfEachBufferOnceAndRemembersThoseOfAFinishedSegment) {
  FakeDevice* device = nullptr;
  std::vector<std::vector<std::string>> names;
  const auto run = [&](Context& ctx) {
    ctx.scratch("s" + std::to_string(ctx.dim("C")), 8, 8);
    run_named(ctx);
    names.emplace_back();
    for (const auto& range : device->watched) names.back().push_back(range.name);
  };
  Bench bench(run, double_spec(), {}, {.calls = 2});
  device = &bench.device;
  bench.run(plan_of({mode_step(1), mode_step(2), mode_step(3)}), {});
  using Names = std::vector<std::string>;
  EXPECT_EQ(names, (std::vector<Names>{{"x", "y", "x", "y", "s1"},
                                       {"x", "y", "x", "y", "s1", "s2"},
                                       {"x", "y", "x", "y", "s1", "s2", "x", "y", "s3"}}));
  EXPECT_EQ(device->watched_later, 4u) << "all but those of the first launch";
}

TEST(Watch, ForgetsTheNamesOfLongPlansAfterAWait) {
  FakeDevice* device = nullptr;
  std::size_t most = 0;
  Bench bench(
      [&](Context& ctx) {
        run_named(ctx);
        most = std::max(most, device->watched.size());
        EXPECT_EQ(device->watched.back().name, "y");
      },
      double_spec(), {}, {.calls = 2});
  device = &bench.device;
  bench.run(plan_of(std::vector<Step>(3000, mode_step(1))), {});
  EXPECT_GT(most, 4000u);
  EXPECT_LT(most, 4200u);
}

TEST(Watch, RemembersWhatLivesForTheWholeTrialAlone) {
  FakeDevice* device = nullptr;
  bool begun = false;
  std::vector<std::string> names;
  Bench bench(
      [&](Context& ctx) {
        if (!begun) {
          ctx.allocate("kept", 8);
          ctx.free(ctx.allocate("freed", 8));
        }
        begun = true;
        run_named(ctx);
        names.clear();
        for (const auto& range : device->watched)
          if (range.name != "x" && range.name != "y") names.push_back(range.name);
      },
      double_spec(), {}, {.calls = 2});
  device = &bench.device;
  bench.run(plan_of(std::vector<Step>(3000, mode_step(1))),
            {.mode = {.allocator = Allocator::plain}});
  EXPECT_EQ(names, std::vector<std::string>{"kept"});
}

}  // namespace
}  // namespace redzone::testing

// The host threads that make the calls of a trial (Mode::callers).
#include <cstdlib>
#include <functional>
#include <set>
#include <stdexcept>
#include <thread>

#include "trial/bench.h"
#include "trial/device_trial_host.h"

namespace redzone::testing {
namespace {

using Log = std::vector<std::string>;

// Calls a function when the thread that made it ends.
struct AtEnd {
  explicit AtEnd(std::function<void()> call) : call_(std::move(call)) {}
  AtEnd(const AtEnd&) = delete;
  AtEnd& operator=(const AtEnd&) = delete;
  ~AtEnd() { call_(); }

 private:
  std::function<void()> call_;
};

CallStep named_step(std::int64_t c, std::int64_t repeat = 1, std::int64_t graph = 0) {
  return {call_of(1, c), repeat, 0, graph};
}

constexpr Mode kEach{.callers = Callers::each};

// Of the calls of a plan: what runs, where threads end, and in which threads the calls were made.
struct Witness {
  Log log;
  std::set<std::thread::id> threads;
  Context* latest = nullptr;

  void call(Context& ctx) {
    latest = &ctx;
    threads.insert(std::this_thread::get_id());
    log.push_back("call " + std::to_string(ctx.dim("C")));
    thread_local AtEnd end([this] { log.push_back("end " + std::to_string(latest->dim("C"))); });
    run_named(ctx);
  }
};

Witness witness_of(std::vector<Step> steps, FakeDevice* device = nullptr) {
  Witness seen;
  Bench bench([&](Context& ctx) { seen.call(ctx); });
  const Observation o = bench.run(plan_of(std::move(steps)), {.mode = kEach});
  EXPECT_EQ(o.end, End::completed) << o.message;
  EXPECT_EQ(bench.device.attached, seen.threads);
  if (device != nullptr) device->log = bench.device.log;
  return seen;
}

TEST(Callers, OneThreadMakesAllCallsUnlessThePlanSaysOtherwise) {
  std::set<std::thread::id> threads;
  Bench bench([&](Context& ctx) {
    threads.insert(std::this_thread::get_id());
    run_named(ctx);
  });
  bench.run(plan_of({named_step(1, 2), named_step(2)}), {});
  EXPECT_EQ(threads, std::set{std::this_thread::get_id()});
  EXPECT_TRUE(bench.device.attached.empty());
}

TEST(Callers, EachStepHasAThreadThatEndsBeforeTheNextBegins) {
  const Witness seen = witness_of({named_step(1), SyncStep{}, named_step(2, 3), named_step(4)});
  EXPECT_EQ(seen.log,
            (Log{"call 1", "end 1", "call 2", "call 2", "call 2", "end 2", "call 4", "end 4"}));
  EXPECT_FALSE(seen.threads.contains(std::this_thread::get_id()));
}

// In-out tensors make each repeat an item of its own; they are still one step.
TEST(Callers, RepeatsOnTensorsOfTheirOwnHaveOneThread) {
  Witness seen;
  TargetSpec spec = double_spec();
  spec.tensors[1].role = Role::inout;
  Bench bench([&](Context& ctx) { seen.call(ctx); }, spec);
  bench.run(plan_of({named_step(1, 2), named_step(2)}), {.mode = kEach});
  EXPECT_EQ(seen.log, (Log{"call 1", "call 1", "end 1", "call 2", "end 2"}));
}

TEST(Callers, TheThreadOfAGraphEndsOnceTheGraphIsCaptured) {
  FakeDevice device;
  const Witness seen = witness_of(
      {named_step(1, 1, 1), named_step(2, 1, 1), named_step(3), ReplayStep{1, 1}}, &device);
  EXPECT_EQ(seen.log, (Log{"call 1", "call 2", "end 2", "call 3", "end 3"}));
  EXPECT_EQ(device.log, (Log{"fill", "capture", "launch k1", "launch k2", "end capture",
                             "launch k3", "fill", "graph 0", "check", "sync"}));
}

TEST(Callers, WhatAThreadOwnsIsFreedThroughTheContextOfItsLastCall) {
  Bench bench([&](Context& ctx) {
    thread_local AtEnd end([&ctx, p = ctx.allocate("own", 4)] { ctx.free(p); });
    run_named(ctx);
  });
  const Observation o = bench.run(plan_of({named_step(1), named_step(2)}), {.mode = kEach});
  EXPECT_EQ(o.end, End::completed) << o.message;
  // Two fills of new memory and two of freed memory, beside the one of the tensors.
  EXPECT_EQ(bench.device.logged({"fill"}).size(), 5u);
}

TEST(Callers, WhatRunThrowsIsToldAsInTheThreadOfTheWorker) {
  const std::function<void()> throws[] = {[] { throw std::runtime_error("it is broken"); },
                                          [] { throw SpecError("no tensor 'z'"); },
                                          [] { throw 1; }};
  for (const auto& thrown : throws) {
    std::vector<Observation> seen;
    for (const Mode mode : {Mode{}, kEach}) {
      Bench bench([&](Context&) { thrown(); });
      seen.push_back(bench.run(plan_of({named_step(1), named_step(2)}), {.mode = mode}));
      seen.back().wall_us = 0;
    }
    EXPECT_NE(seen[0].end, End::completed);
    EXPECT_EQ(seen[0], seen[1]);
  }
}

TEST(Callers, OfAPythonTargetAreOne) {
  Bench bench(run_named);
  TargetSpec spec = double_spec();
  spec.name = "python";
  TargetEntry entry{spec, DeviceKind::host,
                    [] { return std::make_unique<FunctionTarget>(run_named, nullptr); }};
  entry.origin.source = TargetSource::python;
  EXPECT_FALSE(entry.may_know_threads());
  ASSERT_TRUE(bench.registry.add(std::move(entry)));
  Plan plan = plan_of({named_step(1)});
  plan.target = "python";
  EXPECT_EQ(bench.run(plan, {}).end, End::completed);
  const Observation refused = bench.run(plan, {.mode = kEach});
  EXPECT_EQ(refused.end, End::unsupported);
  EXPECT_EQ(refused.message, "callers 'each': one host thread makes all calls of a Python target");
}

// Runs the calls of a plan on the host device with its handlers of signals.
void run_on_host(const RunFunction& run) {
  Registry registry;
  ASSERT_TRUE(registry.add({double_spec(), DeviceKind::host,
                            [&run] { return std::make_unique<FunctionTarget>(run, nullptr); }}));
  trial::DeviceTrialHost host(device::open_host_device(), registry, nullptr, "");
  host.run(plan_of({named_step(1)}), {.mode = kEach});
}

// Each level needs a frame of its own.
int __attribute__((noinline)) descend(volatile int* p, int depth) {
  volatile int frame[64];
  frame[0] = depth;
  return depth == 0 ? *p : descend(p, depth - 1) + frame[0];
}

TEST(CallersDeathTest, AStackOverflowInAThreadOfItsOwnIsHandledAsAFault) {
  const auto overflow = [](Context&) {
    volatile int zero = 0;
    std::exit(descend(&zero, 1 << 30));
  };
  EXPECT_EXIT(run_on_host(overflow), ::testing::ExitedWithCode(device::kFaultExit), "SIGSEGV");
}

}  // namespace
}  // namespace redzone::testing

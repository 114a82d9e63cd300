// Lifetime bugs on the host device: which of them an allocator that reuses memory reveals.
#include <gtest/gtest.h>
#include <redzone/kernel.h>
#include <redzone/target.h>

#include <functional>
#include <map>

#include "core/plan_text.h"
#include "trial/device_trial_host.h"
#include "trial/value_kernels.h"

namespace redzone::testing {
namespace {

// y = x + N, through memory that the call allocates and leaves for the next call to free.
struct LateFree : Target {
  static TargetSpec spec() {
    TargetSpec spec;
    spec.name = "late_free";
    spec.concurrent_calls = true;
    spec.dims = {{.name = "N", .min = 1}};
    spec.tensors = {{.name = "x", .shape = shape_of({"N"})},
                    {.name = "y", .role = Role::out, .shape = shape_of({"N"})}};
    return spec;
  }
  void run(Context& ctx) override {
    const int n = static_cast<int>(ctx.dim("N"));
    ctx.free(last_);
    auto* p = static_cast<float*>(ctx.allocate("tmp", static_cast<std::size_t>(n) * 4));
    launch(ctx, "fill", fill, {}, p, n, static_cast<float>(n));
    launch(ctx, "add", add, {}, ctx.tensor("x").data<float>(), static_cast<const float*>(p),
           ctx.tensor("y").data<float>(), n);
    last_ = p;
  }
  void* last_ = nullptr;
};

// y = x + N, on a side stream, through memory that is allocated and freed there.
struct SideWork : Target {
  explicit SideWork(bool joins) : joins_(joins) {}
  static TargetSpec spec(const char* name) {
    TargetSpec spec = LateFree::spec();
    spec.name = name;
    spec.concurrent_calls = false;
    spec.side_streams = 1;
    return spec;
  }
  void run(Context& ctx) override {
    const int n = static_cast<int>(ctx.dim("N"));
    auto* p = static_cast<float*>(ctx.allocate("tmp", static_cast<std::size_t>(n) * 4, 1));
    ctx.wait(1, 0);
    launch(ctx, "fill", fill, {.stream = 1}, p, n, static_cast<float>(n));
    launch(ctx, "add", add, {.stream = 1}, ctx.tensor("x").data<float>(),
           static_cast<const float*>(p), ctx.tensor("y").data<float>(), n);
    ctx.free(p, 1);
    if (joins_) ctx.wait(0, 1);
  }
  bool joins_;
};

// The side stream reads scratch that the call's own stream writes.
struct SideRead : Target {
  explicit SideRead(bool waits) : waits_(waits) {}
  void run(Context& ctx) override {
    const int n = static_cast<int>(ctx.dim("N"));
    auto* p = static_cast<float*>(ctx.scratch("tmp", static_cast<std::size_t>(n) * 4));
    ctx.wait(1, 0);  // for x
    launch(ctx, "fill", fill, {}, p, n, static_cast<float>(n));
    if (waits_) ctx.wait(1, 0);
    launch(ctx, "add", add, {.stream = 1}, ctx.tensor("x").data<float>(),
           static_cast<const float*>(p), ctx.tensor("y").data<float>(), n);
    ctx.wait(0, 1);
  }
  bool waits_;
};

// A call on stream 1 frees memory that a call on stream 0 uses; `ordered`: after that call.
Plan two_streams(bool ordered) {
  const auto call = [](std::int64_t n, std::int64_t stream) {
    Call call;
    call.dims = {{"N", n}};
    return CallStep{call, 1, stream};
  };
  Plan plan;
  plan.target = "late_free";
  plan.steps = {call(40, 0)};
  if (ordered) plan.steps.emplace_back(WaitStep{1, 0});
  plan.steps.emplace_back(call(30, 1));
  return plan;
}

class Lifetime : public ::testing::Test {
 protected:
  Lifetime() {
    EXPECT_TRUE(targets.add(
        {LateFree::spec(), DeviceKind::host, [] { return std::make_unique<LateFree>(); }}));
    for (const bool joins : {true, false})
      EXPECT_TRUE(targets.add({SideWork::spec(joins ? "side_work" : "no_join"), DeviceKind::host,
                               [joins] { return std::make_unique<SideWork>(joins); }}));
    for (const bool waits : {true, false})
      EXPECT_TRUE(targets.add({SideWork::spec(waits ? "side_read" : "no_edge"), DeviceKind::host,
                               [waits] { return std::make_unique<SideRead>(waits); }}));
  }
  // Digests of the outputs.
  std::vector<std::uint64_t> run(bool ordered, Mode mode) {
    return run(two_streams(ordered), mode);
  }
  std::vector<std::uint64_t> run(const Plan& plan, Mode mode) {
    const Observation o = host.run(plan, {.mode = mode});
    EXPECT_EQ(o.end, End::completed) << o.message;
    std::vector<std::uint64_t> digests;
    for (const auto& call : o.calls)
      for (const auto& b : call.buffers)
        if (b.name == "y") digests.push_back(b.digest);
    return digests;
  }
  static Mode mode_of(Allocator allocator, Launch launch, std::uint64_t seed) {
    return {.launch = launch, .allocator = allocator, .schedule_seed = seed};
  }

  Registry targets;
  trial::DeviceTrialHost host{device::open_host_device(), targets, nullptr, ""};
};

constexpr std::uint64_t kSeeds = 40;

TEST_F(Lifetime, AFreeOnAStreamThatIsNotOrderedIsSeenByGatedTrialsWithReuse) {
  const auto expected = run(false, mode_of(Allocator::guard, Launch::blocking, 0));
  ASSERT_EQ(expected.size(), 2u);
  for (const auto allocator : {Allocator::caching, Allocator::pool}) {
    int seen = 0;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed)
      seen += run(false, mode_of(allocator, Launch::gated, seed)) != expected;
    EXPECT_GT(seen, 0) << name_of(allocator);
  }
}

TEST_F(Lifetime, BlockingTrialsAndOrderedFreesShowNothing) {
  const auto expected = run(true, mode_of(Allocator::guard, Launch::blocking, 0));
  for (const auto allocator :
       {Allocator::guard, Allocator::plain, Allocator::caching, Allocator::pool})
    for (std::uint64_t seed = 0; seed <= kSeeds; ++seed) {
      EXPECT_EQ(run(false, mode_of(allocator, Launch::blocking, seed)), expected);
      for (const auto launch : {Launch::async, Launch::gated})
        EXPECT_EQ(run(true, mode_of(allocator, launch, seed)), expected)
            << name_of(allocator) << " " << name_of(launch) << " " << seed;
    }
}

// For each allocator, the number of trials with blocked launches whose results differ.
std::map<std::string, int> differing(const std::function<std::vector<std::uint64_t>(Mode)>& run) {
  std::map<std::string, int> seen;
  for (const auto allocator :
       {Allocator::guard, Allocator::plain, Allocator::caching, Allocator::pool})
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      Mode mode{.launch = Launch::blocking, .allocator = allocator, .schedule_seed = seed};
      const auto expected = run(mode);
      mode.launch = Launch::gated;
      seen[std::string(name_of(allocator))] += run(mode) != expected;
    }
  return seen;
}

Plan three_calls(const char* target) {
  Plan plan;
  plan.target = target;
  for (const std::int64_t n : {40, 30, 40}) {
    Call call;
    call.dims = {{"N", n}};
    plan.steps.emplace_back(CallStep{call, 1, 0});
  }
  return plan;
}

TEST_F(Lifetime, FillsAddNoEdgesAndRaceWithNothing) {
  for (const char* correct : {"side_work", "side_read"})
    for (const auto& [allocator, count] :
         differing([&](Mode mode) { return run(three_calls(correct), mode); }))
      EXPECT_EQ(count, 0) << correct << " " << allocator;
  for (const char* wrong : {"no_edge", "no_join"})
    for (const auto& [allocator, count] :
         differing([&](Mode mode) { return run(three_calls(wrong), mode); }))
      EXPECT_GT(count, 0) << wrong << " " << allocator;
}

TEST_F(Lifetime, ThePolicyOfThePoolIsHeeded) {
  // Freed on stream 1, so stream 1 may always reuse it. pool_memory_test tests reuse by other
  // streams.
  Mode mode = mode_of(Allocator::pool, Launch::gated, 0);
  mode.pool = {false, false, false, 1 << 20};
  EXPECT_EQ(run(true, mode), run(true, mode_of(Allocator::guard, Launch::blocking, 0)));
}

TEST_F(Lifetime, SteadyStateTrialsMapNothing) {
  for (const auto allocator : {Allocator::guard, Allocator::caching, Allocator::pool}) {
    const TrialSpec trial{.mode = mode_of(allocator, Launch::gated, 0)};
    host.run(two_streams(true), trial);
    for (int i = 0; i < 3; ++i)
      EXPECT_EQ(host.run(two_streams(true), trial).mapping_calls, 0u) << name_of(allocator);
  }
}

}  // namespace
}  // namespace redzone::testing

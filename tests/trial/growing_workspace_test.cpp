// Workspaces that are replaced by larger ones (Context::growing_workspace).
#include "trial/bench.h"

namespace redzone::testing {
namespace {

TEST(GrowingWorkspace, IsReplacedByALargerOneOfZeros) {
  std::vector<void*> given;
  std::vector<float> first;
  Bench bench([&](Context& ctx) {
    auto* p = static_cast<float*>(ctx.growing_workspace("w", ctx.dim("C") * 4));
    given.push_back(p);
    first.push_back(*p);
    launch(ctx, "store", store_kernel, {}, p, 5.0f);
    run_double(ctx);
  });
  const Observation o = bench.run({call_of(1, 2), call_of(1, 1), call_of(1, 8), call_of(1, 8)},
                                  {.launch = Launch::blocking});  // the host reads it, too
  EXPECT_EQ(o.end, End::completed) << o.message;
  EXPECT_EQ(given[1], given[0]);
  EXPECT_NE(given[2], given[0]);
  EXPECT_EQ(given[3], given[2]);
  EXPECT_EQ(first, (std::vector<float>{0, 5, 0, 5}));
  for (const auto& call : o.calls)
    for (const auto& b : call.buffers) EXPECT_EQ(b.changed, 0u) << b.name;
}

TEST(GrowingWorkspace, AWriteToTheOlderMemoryAfterItGrewIsSeen) {
  float* old = nullptr;
  Bench bench([&](Context& ctx) {
    auto* p = static_cast<float*>(ctx.growing_workspace("w", ctx.dim("C") * 4));
    if (old == nullptr) old = p;
    launch(ctx, "store", store_kernel, {}, old, 1.0f);
    run_double(ctx);
  });
  EXPECT_EQ(buffer(bench.run({call_of(1, 2), call_of(1, 8)}), 0, "w").changed, 1u);
}

// The calls of `steps`, which ask for 64 bytes times their columns.
Observation growing_in(std::vector<Step> steps) {
  Bench bench([&](Context& ctx) {
    ctx.growing_workspace("w", ctx.dim("C") * 64);
    run_double(ctx);
  });
  return bench.run(plan_of(std::move(steps)), {});
}

TEST(GrowingWorkspace, ThatIsLargeEnoughIsCaptured) {
  const Observation o = growing_in({CallStep{call_of(1, 2), 1, 0}, CallStep{call_of(1, 1), 1, 0, 1},
                                    ReplayStep{1, 1, 0}, CallStep{call_of(1, 2), 1, 0}});
  EXPECT_EQ(o.end, End::completed) << o.message;
}

// The graph would keep the memory that a larger workspace replaces.
TEST(GrowingWorkspace, GrowsNeitherInACaptureNorAfterOne) {
  const CallStep captured{call_of(1, 2), 1, 0, 1};
  for (const auto& steps : std::vector<std::vector<Step>>{
           {captured, ReplayStep{1, 1, 0}},
           {CallStep{call_of(1, 1), 1, 0}, captured, ReplayStep{1, 1, 0}},
           {CallStep{call_of(1, 2), 1, 0}, captured, ReplayStep{1, 1, 0},
            CallStep{call_of(1, 3), 1, 0}}}) {
    const Observation o = growing_in(steps);
    EXPECT_EQ(o.end, End::unsupported);
    EXPECT_NE(o.message.find("workspace 'w' grows"), std::string::npos) << o.message;
  }
}

TEST(GrowingWorkspace, IsNotForFree) {
  Bench bench([&](Context& ctx) { ctx.free(ctx.growing_workspace("w", 64)); });
  const Observation o = bench.run({call_of(1, 1)});
  ASSERT_TRUE(o.fault);
  EXPECT_EQ(o.fault->code, "foreign-free");
}

// Memory that comes from a cache holds what its last owner wrote.
TEST(GrowingWorkspace, IsZeroedInEveryAllocator) {
  for (const auto allocator :
       {Allocator::guard, Allocator::plain, Allocator::pool, Allocator::caching}) {
    std::vector<float> first;
    Bench bench([&](Context& ctx) {
      ctx.free(ctx.allocate("before", 4096));
      auto* p = static_cast<float*>(ctx.growing_workspace("w", ctx.dim("C") * 4));
      first.push_back(p[0]);
      launch(ctx, "store", store_kernel, {}, p, 1.0f);
      run_double(ctx);
    });
    const Observation o = bench.run({call_of(1, 1), call_of(1, 300), call_of(1, 2)},
                                    {.launch = Launch::blocking, .allocator = allocator});
    EXPECT_EQ(o.end, End::completed) << o.message;
    EXPECT_EQ(first, (std::vector<float>{0, 0, 1})) << name_of(allocator);
  }
}

}  // namespace
}  // namespace redzone::testing

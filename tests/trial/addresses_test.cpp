// Where the tensors of a trial's calls lie (Mode::addresses).
#include "trial/bench.h"

namespace redzone::testing {
namespace {

// Address and contents of the first element of x in each run, and the address of y.
struct Addressed {
  std::vector<void*> x, y;
  std::vector<float> first;
};

Addressed addressed_in(std::vector<Step> steps, Mode mode, TargetSpec spec = double_spec()) {
  Addressed seen;
  Bench bench(
      [&](Context& ctx) {
        seen.x.push_back(ctx.tensor("x").base);
        seen.y.push_back(ctx.tensor("y").base);
        seen.first.push_back(*ctx.tensor("x").data<float>());
        run_double(ctx);
      },
      std::move(spec),
      [](ReferenceCall& call) {
        const auto x = call.input("x");
        const auto y = call.output("y");
        for (std::size_t i = 0; i < x.size(); ++i) y[i] = 2 * x[i];
      });
  const Observation o = bench.run(plan_of(std::move(steps)), {.mode = mode, .reference = true});
  EXPECT_EQ(o.end, End::completed) << o.message;
  for (const auto& call : o.calls)
    for (const auto& r : call.references) EXPECT_EQ(r.mismatches, 0u);
  return seen;
}

CallStep step_of(std::int64_t columns, std::uint64_t seed, std::int64_t stream = 0) {
  return {call_of(2, columns, seed), 1, stream};
}

TEST(Addresses, AreDistinctForEachCallUnlessThePlanSaysOtherwise) {
  const Addressed seen = addressed_in({step_of(3, 1), SyncStep{}, step_of(3, 2)}, {});
  EXPECT_NE(seen.x[0], seen.x[1]);
  EXPECT_NE(seen.y[0], seen.y[1]);
}

TEST(Addresses, ThatAreReusedHoldOtherData) {
  for (const auto allocator : {Allocator::guard, Allocator::plain, Allocator::caching})
    for (const auto launch : {Launch::blocking, Launch::async, Launch::gated})
      for (const auto placement : {Placement::guard_after, Placement::guard_before}) {
        const Addressed seen =
            addressed_in({step_of(3, 1), step_of(3, 2), SyncStep{}, step_of(3, 3)},
                         {.launch = launch,
                          .allocator = allocator,
                          .placement = placement,
                          .addresses = Addresses::reused});
        for (const std::size_t i : {1u, 2u}) {
          EXPECT_EQ(seen.x[i], seen.x[0]) << name_of(allocator) << " " << name_of(launch);
          EXPECT_EQ(seen.y[i], seen.y[0]) << name_of(allocator) << " " << name_of(launch);
        }
      }
}

TEST(Addresses, OfTensorsOfAnotherSizeAreTheirOwn) {
  const Mode mode{.placement = Placement::guard_before, .addresses = Addresses::reused};
  const Addressed seen = addressed_in({step_of(3, 1), step_of(5000, 1), step_of(5, 2)}, mode);
  EXPECT_NE(seen.x[1], seen.x[0]);
  EXPECT_EQ(seen.x[2], seen.x[0]) << "both have one page";
}

// A body of a graph has its memory as long as the graph is replayed.
TEST(Addresses, AGraphKeepsTheMemoryOfItsBody) {
  const Mode mode{.addresses = Addresses::reused};
  CallStep first = step_of(3, 1), second = step_of(3, 2);
  first.graph = second.graph = 1;
  const Addressed seen =
      addressed_in({step_of(3, 3), first, second, ReplayStep{1, 2, 0}, step_of(3, 4)}, mode);
  ASSERT_EQ(seen.x.size(), 4u);
  EXPECT_NE(seen.x[1], seen.x[2]);
  EXPECT_EQ(seen.x[3], seen.x[0]) << "what is no body's is used again";
}

// Scratch of one page, which only the first call has, is of the same size as the tensors.
TEST(Addresses, ThatAreReusedAreThoseOfTheSameTensor) {
  std::vector<void*> x, y;
  Bench bench([&](Context& ctx) {
    x.push_back(ctx.tensor("x").base);
    y.push_back(ctx.tensor("y").base);
    if (x.size() == 1) ctx.scratch("s", 64);
    run_double(ctx);
  });
  const Observation o = bench.run({call_of(2, 3, 1), call_of(2, 3, 2), call_of(2, 3, 3)},
                                  {.addresses = Addresses::reused});
  EXPECT_EQ(o.end, End::completed) << o.message;
  EXPECT_EQ(x, (std::vector<void*>(3, x.front())));
  EXPECT_EQ(y, (std::vector<void*>(3, y.front())));
}

TEST(Addresses, OfCallsOnSeveralStreamsAreReusedOnceTheyHaveEnded) {
  const Mode mode{.launch = Launch::async, .addresses = Addresses::reused};
  const Addressed seen = addressed_in({step_of(3, 1, 0), step_of(3, 2, 1), step_of(3, 3, 0)}, mode);
  EXPECT_EQ(seen.x[1], seen.x[0]);
  EXPECT_EQ(seen.x[2], seen.x[0]);
}

TEST(Addresses, AreNotReusedForATargetThatRemembersThem) {
  TargetSpec spec = double_spec();
  spec.remembers_addresses = true;
  Bench bench(run_double, spec);
  const Observation o = bench.run({call_of(2, 3, 1)}, {.addresses = Addresses::reused});
  EXPECT_EQ(o.end, End::unsupported);
  EXPECT_NE(o.message.find("'t' declares remembers_addresses"), std::string::npos) << o.message;
}

// What does not fit at the same time would run in segments, each in the memory of the last one.
TEST(Addresses, OfATargetThatRemembersThemAreNeverSharedByTwoCalls) {
  for (const bool remembers : {false, true})
    for (const std::size_t pages : {4u, 8u}) {
      TargetSpec spec = double_spec();
      spec.remembers_addresses = remembers;
      Bench bench(run_double, spec, {}, {.bytes = pages * 4096});
      const Observation o = bench.run({call_of(2, 3, 1), call_of(2, 3, 2), call_of(2, 3, 3)});
      const bool fits = pages == 8 || !remembers;
      EXPECT_EQ(o.end, fits ? End::completed : End::out_of_memory) << o.message;
      EXPECT_EQ(o.message.find("remembers_addresses") == std::string::npos, fits) << o.message;
    }
}

}  // namespace
}  // namespace redzone::testing

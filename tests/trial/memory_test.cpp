// Memory whose lifetime the target decides, memory of the host, copies, and allocators that use
// memory again.
#include "core/plan_text.h"
#include "trial/bench.h"

namespace redzone::testing {
namespace {

constexpr Mode kCaching = {.allocator = Allocator::caching};

// "code: detail".
std::string fault_text(const Observation& o) {
  EXPECT_EQ(o.end, End::fault);
  return o.fault ? o.fault->code + ": " + o.fault->detail : "";
}

void read_word(const std::uint32_t* from, std::uint32_t* to) {
  *to = *from;
}

TEST(Allocate, GivesPoisonedGuardedMemory) {
  std::uint32_t first = 0;
  Bench bench([&](Context& ctx) {
    auto* p = static_cast<std::uint32_t*>(ctx.allocate("buf", 256));
    launch(ctx, "read", read_word, {}, p, &first);
    launch(ctx, "store", store_byte_kernel, {}, reinterpret_cast<unsigned char*>(p) - 1,
           static_cast<unsigned char>(0));
  });
  const Observation o =
      bench.run({call_of(1, 1)}, {.placement = Placement::guard_after, .poison = 0x12345678});
  EXPECT_EQ(o.end, End::completed);
  EXPECT_EQ(first, 0x12345678u);
  const BufferObservation& buf = buffer(o, 0, "buf");
  EXPECT_TRUE(buf.scratch);
  EXPECT_EQ(buf.numel, 256u);
  EXPECT_EQ(buf.dirty_before, 1u);
  EXPECT_EQ(buf.changed, 0u);
}

TEST(Allocate, LivesUntilTheTrialEnds) {
  std::vector<std::uint32_t> found(3);
  std::uint32_t* kept = nullptr;
  std::size_t run = 0;
  Bench bench(
      [&](Context& ctx) {
        if (run == 0) kept = static_cast<std::uint32_t*>(ctx.allocate("state", 64));
        launch(
            ctx, "use", +[](std::uint32_t* p, std::uint32_t* found) { *found = (*p)++; }, {}, kept,
            &found[run++]);
        run_double(ctx);
      },
      double_spec(), {}, {.calls = 1});
  for (const auto allocator : {Allocator::guard, Allocator::caching, Allocator::plain}) {
    run = 0;
    const Observation o = bench.run({call_of(3, 3), call_of(9, 9), call_of(3, 3)},
                                    {.allocator = allocator, .poison = 7});
    EXPECT_EQ(o.end, End::completed);
    EXPECT_EQ(found, (std::vector<std::uint32_t>{7, 8, 9})) << name_of(allocator);
  }
}

TEST(Free, AWriteAfterItIsFoundAndAReadSeesNoData) {
  std::uint32_t before = 0, after = 0;
  Bench bench([&](Context& ctx) {
    auto* p = static_cast<std::uint32_t*>(ctx.allocate("buf", 256));
    launch(ctx, "store", store_kernel, {}, reinterpret_cast<float*>(p), 1.0f);
    launch(ctx, "read", read_word, {}, p, &before);
    ctx.free(p);
    launch(ctx, "read", read_word, {}, p, &after);
    launch(ctx, "store", store_kernel, {}, reinterpret_cast<float*>(p) + 5, 1.0f);
  });
  const Observation o = bench.run({call_of(1, 1)});
  EXPECT_EQ(o.end, End::completed);
  EXPECT_EQ(before, 0x3f800000u);
  EXPECT_NE(after, before);
  EXPECT_EQ(buffer(o, 0, "buf").changed, 1u);
  EXPECT_EQ(buffer(o, 0, "buf").dirty_after, 0u);
  EXPECT_EQ(buffer(bench.run({call_of(1, 1)}, kCaching), 0, "buf").changed, 0u)
      << "it may be another's";
}

TEST(Free, IsCleanWhereItComesLastAndKeepsTheDamageAroundTheBuffer) {
  bool overrun = false;
  Bench bench([&](Context& ctx) {
    auto* p = static_cast<float*>(ctx.allocate("buf", 256));
    launch(ctx, "store", store_kernel, {}, p + 63 + (overrun ? 1 : 0), 1.0f);
    ctx.free(p);
    run_double(ctx);
  });
  const Mode head = {.placement = Placement::guard_before};
  const Observation clean = bench.run({call_of(1, 1), call_of(2, 2)}, head);
  for (const auto& call : clean.calls)
    for (const auto& b : call.buffers) EXPECT_EQ(b.changed + b.dirty_after, 0u) << b.name;
  overrun = true;
  EXPECT_EQ(buffer(bench.run({call_of(1, 1)}, head), 0, "buf").dirty_after, 4u);
}

TEST(Free, OfWhatIsNotAllocatedOrFreedAlreadyIsTheTargetsError) {
  for (const auto allocator : {Allocator::guard, Allocator::caching, Allocator::plain}) {
    Bench twice([](Context& ctx) {
      void* p = ctx.allocate("buf", 64);
      ctx.free(p);
      ctx.free(p);
    });
    EXPECT_EQ(fault_text(twice.run({call_of(1, 1)}, {.allocator = allocator})),
              "double-free: free: 'buf' was already freed");
    Bench foreign([](Context& ctx) { ctx.free(ctx.tensor("y").base); });
    EXPECT_EQ(fault_text(foreign.run({call_of(1, 1)}, {.allocator = allocator})),
              "foreign-free: free: not from allocate()");
    Bench inside([](Context& ctx) { ctx.free(static_cast<char*>(ctx.allocate("buf", 64)) + 16); });
    EXPECT_EQ(fault_text(inside.run({call_of(1, 1)}, {.allocator = allocator})),
              "foreign-free: free: not from allocate()");
    Bench nothing([](Context& ctx) { ctx.free(nullptr); });
    EXPECT_EQ(nothing.run({call_of(1, 1)}, {.allocator = allocator}).end, End::completed);
  }
}

TEST(Free, WorksForBuffersOfNoBytes) {
  for (const auto allocator : {Allocator::guard, Allocator::caching, Allocator::plain}) {
    Bench bench([](Context& ctx) {
      void* a = ctx.allocate("a", 0);
      void* b = ctx.allocate("b", 16);
      void* c = ctx.allocate("c", 0);
      for (void* p : {b, a, c}) ctx.free(p);
      run_double(ctx);
    });
    const Observation o = bench.run({call_of(1, 1)}, {.allocator = allocator});
    EXPECT_EQ(o.end, End::completed) << name_of(allocator);
  }
}

TEST(Caching, FreedMemoryIsUsedAgainAtOnceAndPoisoned) {
  void *a = nullptr, *b = nullptr;
  std::uint32_t found = 0;
  Bench bench([&](Context& ctx) {
    a = ctx.allocate("a", 1000);
    launch(ctx, "store", store_kernel, {}, static_cast<float*>(a), 1.0f);
    ctx.free(a);
    b = ctx.allocate("b", 900);
    launch(ctx, "read", read_word, {}, static_cast<std::uint32_t*>(b), &found);
  });
  EXPECT_EQ(bench.run({call_of(1, 1)}, {.allocator = Allocator::caching, .poison = 77}).end,
            End::completed);
  EXPECT_EQ(a, b);
  EXPECT_EQ(found, 77u);
  bench.run({call_of(1, 1)});
  EXPECT_NE(a, b) << "guarded memory is not";
}

TEST(Caching, ScratchGoesBackBehindItsCallAndServesTheNext) {
  std::vector<void*> places;
  Bench bench([&](Context& ctx) {
    void* p = ctx.scratch("tmp", 1000);
    void* q = ctx.scratch("tmp", 1000);
    EXPECT_NE(p, q) << "not within a call";
    places.push_back(p);
    run_double(ctx);
  });
  Plan plan;
  plan.target = "t";
  plan.steps = {CallStep{call_of(3, 5), 3, 0}, CallStep{call_of(4, 4), 1, 0}};
  const Observation o = bench.run(plan, {.mode = kCaching});
  EXPECT_EQ(o.end, End::completed);
  EXPECT_EQ(places, std::vector<void*>(4, places[0]));
  EXPECT_EQ(o.calls[0].buffers.size(), 4u) << "x, y, tmp, tmp#2";
}

// It replays on any stream, which nothing orders behind the last owner.
TEST(Caching, MemoryOfAGraphIsNobodyElses) {
  std::vector<void*> places;
  Bench bench([&](Context& ctx) {
    places.push_back(ctx.scratch("tmp", 1000));
    void* p = ctx.allocate("buf", 3000);
    places.push_back(p);
    ctx.free(p);
    run_double(ctx);
  });
  Plan plan;
  plan.target = "t";
  const CallStep plain{call_of(3, 5), 1, 0};
  CallStep captured = plain;
  captured.graph = 1;
  plan.steps = {plain, captured, ReplayStep{.graph = 1, .stream = 1}, plain,
                ReplayStep{.graph = 1, .stream = 1}};
  EXPECT_EQ(bench.run(plan, {.mode = kCaching}).end, End::completed);
  ASSERT_EQ(places.size(), 6u);
  for (const std::size_t i : {0, 1, 4, 5}) {
    EXPECT_NE(places[i], places[2]);
    EXPECT_NE(places[i], places[3]);
  }
  EXPECT_EQ(places[0], places[4]);
  EXPECT_EQ(bench.run(plan, {.mode = kCaching}).mapping_calls, 0u);
}

TEST(Caching, BuffersLieSideBySideWithoutCanaries) {
  std::vector<std::byte*> at;
  Bench bench([&](Context& ctx) {
    at.push_back(static_cast<std::byte*>(ctx.tensor("x").base));
    at.push_back(static_cast<std::byte*>(ctx.tensor("y").base));
    launch(ctx, "store", store_kernel, {}, ctx.tensor("x").data<float>() + 15, 1.0f);
    run_double(ctx);
  });
  const Observation o = bench.run({call_of(3, 5)}, kCaching);
  EXPECT_EQ(at[1] - at[0], 512);
  EXPECT_EQ(buffer(o, 0, "x").dirty_after, 0u);
}

TEST(Caching, TrialsAreLaidOutAlikeAndMapNothing) {
  std::vector<void*> places;
  Bench bench(
      [&](Context& ctx) {
        places.push_back(ctx.tensor("y").base);
        places.push_back(ctx.scratch("tmp", 3000));
        places.push_back(ctx.allocate("kept", 5000));
        run_double(ctx);
      },
      double_spec(), {}, {.calls = 2});
  const std::vector<Call> calls = {call_of(3, 5), call_of(600, 700), call_of(3, 5)};
  EXPECT_GT(bench.run(calls, kCaching).mapping_calls, 0u);
  const auto first = std::exchange(places, {});
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(bench.run(calls, kCaching).mapping_calls, 0u);
    EXPECT_EQ(std::exchange(places, {}), first);
  }
}

TEST(Caching, ADigestIsThatOfGuardedMemory) {
  Bench bench(run_double, double_spec(), {}, {.calls = 2});
  const std::vector<Call> calls = {call_of(3, 5), call_of(4, 4), call_of(3, 5, 9)};
  const auto guarded = bench.run(calls).calls, cached = bench.run(calls, kCaching).calls;
  ASSERT_EQ(cached.size(), guarded.size());
  for (std::size_t i = 0; i < cached.size(); ++i) {
    ASSERT_EQ(cached[i].buffers.size(), guarded[i].buffers.size());
    for (std::size_t b = 0; b < cached[i].buffers.size(); ++b)
      EXPECT_EQ(cached[i].buffers[b].digest, guarded[i].buffers[b].digest);
  }
}

TEST(SpentScratch, IsOverwrittenWithTheNextFillAndWatched) {
  float* stale = nullptr;
  bool misuse = false;
  Bench bench([&](Context& ctx) {
    auto* p = static_cast<float*>(ctx.scratch("tmp", 64));
    if (stale == nullptr) stale = p;
    launch(ctx, "store", store_kernel, {}, misuse ? stale : p, 1.0f);
    run_double(ctx);
  });
  const std::vector<Call> calls = {call_of(1, 1), call_of(2, 2)};
  Observation o = bench.run(calls);
  EXPECT_EQ(buffer(o, 0, "tmp").changed, 0u);
  EXPECT_EQ(bench.device.logged({"fill"}).size(), 3u) << "no operation more";
  stale = nullptr;
  misuse = true;
  o = bench.run(calls);
  EXPECT_EQ(buffer(o, 0, "tmp").changed, 1u);
  EXPECT_EQ(buffer(o, 1, "tmp").changed, 0u);
}

TEST(HostMemory, IsZeroedOnceLivesForTheTrialAndIsCached) {
  std::vector<int> found;
  Bench bench([&](Context& ctx) {
    auto* p = static_cast<int*>(ctx.pinned_memory("args", 64));
    found.push_back(p[3]++);
    run_double(ctx);
  });
  const std::vector<Call> calls = {call_of(1, 1), call_of(1, 1)};
  EXPECT_GT(bench.run(calls).mapping_calls, 0u);
  EXPECT_EQ(bench.run(calls).mapping_calls, 0u);
  EXPECT_EQ(found, (std::vector<int>{0, 1, 0, 1}));
  EXPECT_EQ(bench.device.host().live_bytes, 0u);
}

TEST(HostMemory, IsTheNameOfPinnedMemoryInOlderSources) {
  std::vector<void*> found;
  Bench bench([&](Context& ctx) {
    found = {ctx.pinned_memory("args", 64), ctx.host_memory("args", 64),
             ctx.host_memory("other", 64)};
    run_double(ctx);
  });
  EXPECT_EQ(bench.run({call_of(1, 1)}).end, End::completed);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0], found[1]);
  EXPECT_NE(found[1], found[2]);
}

TEST(HostMemory, CannotGrow) {
  Bench bench([](Context& ctx) { ctx.pinned_memory("args", 64 * ctx.dim("C")); });
  EXPECT_EQ(bench.run({call_of(1, 2), call_of(1, 1)}).end, End::completed);
  EXPECT_EQ(fault_text(bench.run({call_of(1, 1), call_of(1, 2)})),
            "memory-grew: host memory 'args': 128 bytes asked for, 64 held");
}

TEST(Copy, ReadsTheSourceWhenItRuns) {
  std::vector<float> found(2);
  std::size_t run = 0;
  Bench bench([&](Context& ctx) {
    auto* host = static_cast<float*>(ctx.pinned_memory("args", 4));
    auto* device = static_cast<float*>(ctx.scratch("args", 4));
    *host = static_cast<float>(ctx.dim("C"));
    ctx.copy(device, host, 4);
    launch(
        ctx, "read", +[](const float* from, float* to) { *to = *from; }, {},
        static_cast<const float*>(device), &found[run++]);
  });
  const std::vector<Call> calls = {call_of(1, 3), call_of(1, 5)};
  bench.run(calls, {.launch = Launch::blocking});
  EXPECT_EQ(found, (std::vector<float>{3, 5}));
  run = 0;
  bench.run(calls, {.launch = Launch::gated});
  EXPECT_EQ(found, (std::vector<float>{5, 5})) << "the second call wrote before the first copy ran";
}

TEST(Copy, CountsAsAnOperationOfAHeldStream) {
  Bench bench([](Context& ctx) {
    void* host = ctx.pinned_memory("args", 4);
    for (int i = 0; i < 50; ++i) ctx.copy(ctx.tensor("y").base, host, 4);
  });
  bench.device.capacity = 20;
  EXPECT_EQ(bench.run({call_of(1, 1)}, {.launch = Launch::gated}).end, End::completed);
  EXPECT_GE(bench.device.logged({"hold"}).size(), 2u);
}

TEST(Memset, WritesInTheOrderOfItsStream) {
  std::vector<std::uint32_t> found;
  Bench bench([&](Context& ctx) {
    auto* words = static_cast<std::uint32_t*>(ctx.scratch("words", 8));
    ctx.memset(words, 0xab, 4);
    found.resize(1);
    launch(
        ctx, "read", +[](const std::uint32_t* from, std::uint32_t* to) { *to = *from; }, {},
        static_cast<const std::uint32_t*>(words), found.data());
  });
  for (const Launch launch : {Launch::blocking, Launch::gated}) {
    found.clear();
    EXPECT_EQ(bench.run({call_of(1, 1)}, {.launch = launch}).end, End::completed);
    EXPECT_EQ(found, (std::vector<std::uint32_t>{0xabababab}));
  }
}

TEST(Memset, OfPageableMemoryIsTheTargetsError) {
  float local = 1;
  Bench bench([&](Context& ctx) { ctx.memset(&local, 0, 4); });
  bench.device.host_pages = {&local};
  EXPECT_EQ(fault_text(bench.run({call_of(1, 1)})), "target-error: pageable");
}

TEST(Copy, OfPageableMemoryIsTheTargetsError) {
  float local = 1;
  Bench bench([&](Context& ctx) { ctx.copy(ctx.tensor("y").base, &local, 4); });
  bench.device.host_pages = {&local};
  EXPECT_EQ(fault_text(bench.run({call_of(1, 1)})), "target-error: pageable");
}

TEST(SideStreams, OfACallThatHasNoneAreAnError) {
  Bench bench([](Context& ctx) { ctx.allocate("buf", 64, 1); });
  EXPECT_NE(fault_text(bench.run({call_of(1, 1)})).find("stream 1"), std::string::npos);
}

}  // namespace
}  // namespace redzone::testing

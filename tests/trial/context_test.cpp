// What a context provides to a target.
#include <set>

#include "trial/bench.h"

namespace redzone::testing {
namespace {

// Tensors: a (inout) of [C].
TargetSpec inout_spec() {
  TargetSpec spec = double_spec();
  spec.tensors = {{.name = "a", .role = Role::inout, .shape = shape_of({"R", "C"})}};
  return spec;
}

Plan repeated(std::int64_t times) {
  Plan plan;
  plan.target = "t";
  plan.steps = {CallStep{call_of(2, 4), times, 0}};
  return plan;
}

void add_one_kernel(float* p, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) p[i] += 1;
}

void nothing_of(int, unsigned, std::int64_t) {}

TEST(Context, ALaunchRefusesToNarrowAnArgument) {
  std::string detail;
  const auto code_of = [&](auto first, auto second) {
    Bench bench(
        [=](Context& ctx) { launch(ctx, "nothing", nothing_of, {}, first, second, first); });
    const Observation o = bench.run({call_of(1, 1)});
    detail = o.fault ? o.fault->detail : "";
    return o.fault ? o.fault->code : std::string(name_of(o.end));
  };
  constexpr std::int64_t kLarge = std::int64_t{1} << 32;
  EXPECT_EQ(code_of(std::int64_t{-5}, std::int64_t{5}), "completed");
  EXPECT_EQ(code_of(kLarge, 5), "argument-overflow");
  EXPECT_EQ(
      detail,
      "kernel 'nothing': argument 1 is 4294967296, which does not fit its parameter of 4 bytes");
  EXPECT_EQ(code_of(std::int64_t{5}, std::int64_t{-5}), "argument-overflow");
  EXPECT_TRUE(detail.starts_with("kernel 'nothing': argument 2 is -5,")) << detail;
  EXPECT_EQ(code_of(~std::uint64_t{0}, 5), "argument-overflow");
  EXPECT_EQ(code_of(5, static_cast<unsigned>(kLarge - 1)), "completed");
}

// The runs together may take longer than a deadline, although no single run does.
TEST(SignsOfLife, EachRunOfARepeatedCallIsOne) {
  std::set<std::uint64_t> seen;
  const device::BlackBox* box = nullptr;
  Bench bench([&](Context&) { seen.insert(box->progress); });
  box = &bench.box;
  bench.run(repeated(10), {.mode = {.launch = Launch::gated}});
  EXPECT_EQ(seen.size(), 10u);
}

TEST(Context, KnowsTheCall) {
  Bench bench([](Context& ctx) {
    EXPECT_EQ(ctx.dim("R"), 3);
    EXPECT_EQ(ctx.device(), DeviceKind::host);
    EXPECT_NE(ctx.stream(), nullptr);
    EXPECT_FALSE(ctx.ended());
    EXPECT_THROW(ctx.tensor("z"), std::out_of_range);
    run_double(ctx);
  });
  EXPECT_EQ(bench.run({call_of(3, 5)}).end, End::completed);
}

TEST(Context, RepeatsRunOnTheSameBuffers) {
  std::set<void*> places;
  Bench bench([&](Context& ctx) {
    places.insert(ctx.tensor("y").base);
    run_double(ctx);
  });
  const Observation o = bench.run(repeated(3), {});
  EXPECT_EQ(places.size(), 1u);
  ASSERT_EQ(o.calls.size(), 1u);
  EXPECT_EQ(o.calls[0].launches.size(), 1u) << "of the first repeat";
  EXPECT_EQ(bench.device.logged({"launch"}).size(), 3u);
}

TEST(Context, RepeatsOfInoutStartFromTheSameData) {
  std::set<void*> places;
  Bench bench(
      [&](Context& ctx) {
        places.insert(ctx.tensor("a").base);
        launch(ctx, "add", add_one_kernel, {}, ctx.tensor("a").data<float>(),
               ctx.tensor("a").numel());
      },
      inout_spec());
  const Observation once = bench.run(repeated(1), {});
  places.clear();
  const Observation thrice = bench.run(repeated(3), {});
  EXPECT_EQ(places.size(), 3u);
  EXPECT_EQ(once.calls, thrice.calls) << "the last repeat's buffers, the first's launches";
  EXPECT_EQ(once.calls[0].launches.size(), 1u);
}

TEST(Context, ScratchIsWhatIsAskedForAndTheNeedIsObserved) {
  std::vector<void*> got;
  Bench bench([&](Context& ctx) {
    got.push_back(
        ctx.scratch("s", 64, 128, {.bytes_per_cta = 64, .grid = {4, 1, 1}, .align = 128}));
    got.push_back(ctx.scratch("s", 0, 1, {.bytes_per_cta = 8, .grid = {1, 2, 3}, .num_ctas = 2}));
    run_double(ctx);
  });
  const Observation o = bench.run({call_of(2, 4)});
  EXPECT_EQ(o.end, End::completed);
  ASSERT_EQ(got.size(), 2u);
  EXPECT_NE(got[0], nullptr);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(got[0]) % 128, 0u);
  EXPECT_EQ(got[1], nullptr) << "0 bytes are a null pointer, which ends nothing";
  EXPECT_EQ(buffer(o, 0, "s").numel, 64u);
  const std::vector<ScratchObservation> want = {{"s", 64, 128, 64, {4, 1, 1}, 1, 128},
                                                {"s", 0, 1, 8, {1, 2, 3}, 2, 1}};
  EXPECT_EQ(o.calls[0].scratch, want);
}

TEST(Context, RequestsForScratchOfAllRepeatsAreObserved) {
  std::size_t run = 0;
  Bench bench([&](Context& ctx) {
    ctx.scratch("s", run++ == 0 ? 64 : 16, 16, {.bytes_per_cta = 16, .grid = {4, 1, 1}});
    run_double(ctx);
  });
  const Observation o = bench.run(repeated(5), {});
  ASSERT_EQ(o.calls[0].scratch.size(), 2u) << "one that equals its predecessor is left out";
  EXPECT_EQ(o.calls[0].scratch[0].bytes, 64u);
  EXPECT_EQ(o.calls[0].scratch[1].bytes, 16u);
}

TEST(Context, RequestsForScratchAreBounded) {
  std::size_t bytes = 0;
  Bench bench([&](Context& ctx) {
    ctx.scratch("s", ++bytes, 1, {.bytes_per_cta = 1});
    run_double(ctx);
  });
  const Observation o = bench.run(repeated(100), {});
  EXPECT_EQ(o.calls[0].scratch.size(), kMostScratchObservations);
}

// bf16 [1, 32, 128] whose size-1 dim has a stride of one element, as in the report of length 1.
tma::Descriptor length_one(const void* address) {
  tma::Descriptor d;
  d.rank = 3;
  d.address = reinterpret_cast<std::uintptr_t>(address);
  d.dims = {128, 1, 32, 1, 1};
  d.strides = {2, 256};
  d.box = {64, 128, 1, 1, 1};
  return d;
}

TEST(Context, AnEncodeThatIsRefusedIsObservedAndEndsNothing) {
  alignas(64) static char memory[64];
  EncodeStatus first, second;
  Bench bench([&](Context& ctx) {
    TensorMap map;
    tma::Descriptor d = length_one(memory);
    first = ctx.encode_tiled("x", d, map);
    d.strides[0] = 256;
    second = ctx.encode_tiled("x", d, map);
    EXPECT_FALSE(ctx.ended());
    run_double(ctx);
  });
  const Observation o = bench.run(repeated(3), {});
  EXPECT_EQ(o.end, End::completed);
  EXPECT_EQ(first.code, 1);
  EXPECT_NE(first.why.find("stride-alignment"), std::string::npos) << first.why;
  EXPECT_TRUE(second) << second.why;
  ASSERT_EQ(o.encodes.size(), 1u) << "one that equals its predecessor is left out";
  const EncodeObservation& e = o.encodes[0];
  EXPECT_EQ(e.call, 0);
  EXPECT_EQ(e.name, "x");
  EXPECT_EQ(e.rule, "stride-alignment");
  EXPECT_EQ(e.dim, 1);
  EXPECT_TRUE(e.degenerate);
}

// A wrapper that continues is refused for each tile; only the refusals that are kept are explained.
TEST(Context, OfManyRefusedEncodesTheFirstAreExplained) {
  std::vector<EncodeStatus> all;
  Bench bench([&](Context& ctx) {
    TensorMap map;
    for (std::uint64_t i = 0; i < 100; ++i) {
      tma::Descriptor d = length_one(&map);
      d.dims[0] = 128 + i / 2 * 8;  // each value twice
      d.strides[0] = 2 + i / 2 * 16;
      all.push_back(ctx.encode_tiled("x", d, map));
    }
    run_double(ctx);
  });
  const Observation o = bench.run({call_of(2, 4)});
  EXPECT_EQ(o.end, End::completed);
  ASSERT_EQ(o.encodes.size(), kMostEncodeObservations);
  ASSERT_EQ(all.size(), 100u);
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].code, 1);
    if (i < 2 * kMostEncodeObservations)
      EXPECT_EQ(all[i].why, o.encodes[i / 2].text) << i;
    else
      EXPECT_EQ(all[i].why, "not explained, as 32 before it were") << i;
  }
  EXPECT_NE(o.encodes[0].text, o.encodes[1].text);
}

TEST(Context, AFaultBehindAnEncodeThatWasRefusedTellsOfIt) {
  Bench bench([&](Context& ctx) {
    TensorMap map;
    if (!ctx.encode_tiled("x", length_one(&map), map)) ctx.fail("tma", "cannot launch");
  });
  const Observation o = bench.run({call_of(2, 4)});
  ASSERT_TRUE(o.fault);
  EXPECT_EQ(o.fault->code, "tma");
  EXPECT_NE(o.fault->detail.find("cannot launch; the descriptor of 'x' was not encoded: "
                                 "stride-alignment"),
            std::string::npos)
      << o.fault->detail;
}

TEST(Context, ADeviceWithoutTmaEndsTheCallAsUnsupported) {
  EncodeStatus status;
  Bench bench([&](Context& ctx) {
    TensorMap map;
    status = ctx.encode_tiled("x", length_one(&map), map);
    EXPECT_TRUE(ctx.ended());
    EXPECT_FALSE(ctx.encode_tiled("x", length_one(&map), map));
  });
  bench.device.encode_failure =
      device::Failure{device::Failure::Kind::unsupported, "no-tma", "old"};
  const Observation o = bench.run({call_of(2, 4)});
  EXPECT_EQ(o.end, End::unsupported);
  EXPECT_FALSE(status);
  EXPECT_TRUE(o.encodes.empty());
}

TEST(Context, DamageOfAnEarlierRepeatIsKept) {
  int run = 0;
  Bench bench(
      [&](Context& ctx) {
        if (run++ == 0)
          launch(ctx, "store", store_kernel, {},
                 ctx.tensor("a").data<float>() + ctx.tensor("a").numel(), 1.0f);
      },
      [] {
        TargetSpec spec = inout_spec();
        spec.tensors[0].align_bytes = 64;
        return spec;
      }());
  EXPECT_GT(buffer(bench.run(repeated(3), {}), 0, "a").dirty_after, 0u);
  EXPECT_EQ(run, 3);
}

TEST(Scratch, IsPoisonedGuardedAndChecked) {
  std::uint32_t first = 0;
  Bench bench([&](Context& ctx) {
    auto* p = static_cast<std::uint32_t*>(ctx.scratch("tmp", 100, 64));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p) % 64, 0u);
    launch(
        ctx, "read", +[](const std::uint32_t* p, std::uint32_t* to) { *to = *p; }, {}, p, &first);
    launch(ctx, "store", store_byte_kernel, {}, reinterpret_cast<unsigned char*>(p) + 100,
           static_cast<unsigned char>(0));
    run_double(ctx);
  });
  const Observation o = bench.run({call_of(1, 1)}, {.poison = 0x12345678});
  EXPECT_EQ(first, 0x12345678u);
  const BufferObservation& tmp = buffer(o, 0, "tmp");
  EXPECT_TRUE(tmp.scratch);
  EXPECT_EQ(tmp.numel, 100u);
  EXPECT_EQ(tmp.digest, 0u);
  EXPECT_EQ(tmp.dirty_after, 1u);
  EXPECT_EQ(tmp.first_dirty_byte, 100);
}

TEST(Scratch, NamesMayRepeatWithinACall) {
  Bench bench([](Context& ctx) {
    void* a = ctx.scratch("tmp", 64);
    void* b = ctx.scratch("tmp", 64);
    EXPECT_NE(a, b);
    run_double(ctx);
  });
  const Observation o = bench.run({call_of(1, 1), call_of(1, 1)});
  ASSERT_EQ(o.calls.size(), 2u);
  for (const auto& call : o.calls) {
    ASSERT_EQ(call.buffers.size(), 4u);
    EXPECT_EQ(call.buffers[2].name, "tmp");
    EXPECT_EQ(call.buffers[3].name, "tmp#2");
  }
}

TEST(Scratch, OfARepeatReusesTheMemoryPoisonsAgainAndKeepsTheDamage) {
  std::set<void*> places;
  std::vector<std::uint32_t> found(3);
  int run = 0;
  Bench bench([&](Context& ctx) {
    auto* p = static_cast<std::uint32_t*>(ctx.scratch("tmp", 100, 128));
    places.insert(p);
    launch(
        ctx, "use",
        +[](std::uint32_t* p, std::uint32_t* found, bool overrun) {
          *found = *p;
          *p = 1;
          if (overrun) p[25] = 0;
        },
        {}, p, &found[static_cast<std::size_t>(run)], run == 0);
    ++run;
    run_double(ctx);
  });
  const Observation o = bench.run(repeated(3), {.mode = {.poison = 77}});
  EXPECT_EQ(places.size(), 1u);
  EXPECT_EQ(found, (std::vector<std::uint32_t>{77, 77, 77}));
  EXPECT_EQ(buffer(o, 0, "tmp").dirty_after, 4u);
}

TEST(Scratch, OfNoBytesIsAPointerThatMayNotBeUsed) {
  FakeDevice* device = nullptr;
  Bench bench([&](Context& ctx) {
    void* p = ctx.scratch("none", 0);
    ASSERT_NE(p, nullptr);
    const device::Region region = device->guard().region_of(p);
    EXPECT_EQ(p, region.base + region.bytes);
    run_double(ctx);
  });
  device = &bench.device;
  EXPECT_EQ(bench.run({call_of(1, 1)}, {.placement = Placement::guard_before}).end, End::completed);
}

TEST(Scratch, OfAnImpossibleSizeIsTheTargetsError) {
  for (const auto& [bytes, align, detail] :
       {std::tuple<std::size_t, std::size_t, const char*>{
            -16, 256, "'tmp': 18446744073709551600 bytes (as a signed number -16) aligned to 256"},
        {(std::size_t{1} << 47) + 1, 256, "'tmp': 140737488355329 bytes aligned to 256"},
        {16, 24, "'tmp': 16 bytes aligned to 24"}}) {
    Bench bench([&, bytes = bytes, align = align](Context& ctx) {
      EXPECT_EQ(ctx.scratch("tmp", bytes, align), nullptr);
      EXPECT_TRUE(ctx.ended());
    });
    const Observation o = bench.run({call_of(1, 1)});
    ASSERT_EQ(o.end, End::fault);
    EXPECT_EQ(o.fault->code, "impossible-size");
    EXPECT_EQ(o.fault->detail, detail);
    EXPECT_EQ(o.fault->call, 0);
  }
  Bench large([](Context& ctx) { ctx.scratch("tmp", std::size_t{1} << 47, 16); });
  large.device.guard().most_bytes = 1 << 16;
  EXPECT_EQ(large.run({call_of(1, 1)}).end, End::out_of_memory) << "another device may have it";
}

TEST(Scratch, ThatDoesNotFitEndsTheTrial) {
  Bench bench([&](Context& ctx) { EXPECT_EQ(ctx.scratch("tmp", 1 << 20), nullptr); });
  bench.device.guard().most_bytes = 1 << 16;
  EXPECT_EQ(bench.run({call_of(1, 1)}).end, End::out_of_memory);
}

TEST(Workspace, IsZeroedOnceAndLivesForTheTrial) {
  std::vector<int> found(4, -1);
  std::size_t run = 0;
  Bench bench(
      [&](Context& ctx) {
        auto* counter = static_cast<int*>(ctx.workspace("counter", 8));
        launch(
            ctx, "count", +[](int* counter, int* found) { *found = (*counter)++; }, {}, counter,
            &found[run++]);
        run_double(ctx);
      },
      double_spec(), {}, {.calls = 1});
  const Observation o = bench.run({call_of(1, 1), call_of(3, 3), call_of(1, 1)});
  EXPECT_EQ(o.end, End::completed);
  EXPECT_EQ(found, (std::vector<int>{0, 1, 2, -1}));
  EXPECT_TRUE(buffer(o, 0, "counter").scratch);
  EXPECT_EQ(o.calls[1].buffers.size(), 2u) << "it belongs to the call that asked first";
  bench.run({call_of(1, 1)});
  EXPECT_EQ(found[3], 0) << "each trial has its own";
}

TEST(Workspace, IsCheckedAtTheEndOfTheTrial) {
  int run = 0;
  Bench bench([&](Context& ctx) {
    auto* p = static_cast<unsigned char*>(ctx.workspace("w", 100, 128));
    if (run++ == 1)
      launch(ctx, "store", store_byte_kernel, {}, p + 100, static_cast<unsigned char>(0));
  });
  EXPECT_EQ(buffer(bench.run({call_of(1, 1), call_of(1, 1)}), 0, "w").dirty_after, 1u);
}

TEST(Workspace, CannotGrow) {
  Bench bench([&](Context& ctx) {
    ctx.workspace("w", ctx.dim("C") * 4);
    run_double(ctx);
  });
  EXPECT_EQ(bench.run({call_of(1, 8), call_of(1, 2)}).end, End::completed);
  const Observation o = bench.run({call_of(1, 2), call_of(1, 8)});
  EXPECT_EQ(o.end, End::fault);
  EXPECT_EQ(o.fault->code, "memory-grew");
  EXPECT_EQ(o.fault->call, 1);
  EXPECT_EQ(o.calls.size(), 1u) << "the call before it completed";
}

}  // namespace
}  // namespace redzone::testing

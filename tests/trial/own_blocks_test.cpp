// What a framework allocates by its own hooks.
#include "trial/own_blocks.h"

#include <cstring>
#include <stdexcept>

#include "trial/bench.h"

namespace redzone::testing {
namespace {

constexpr std::uint32_t kPoison = 0x12345678;
constexpr Mode kGuarded = {.placement = Placement::guard_after, .poison = kPoison};

void copy_word(const std::uint32_t* from, std::uint32_t* to) {
  *to = *from;
}

// A target whose calls use the blocks of its runner.
struct Framework {
  using Code = std::function<void(Context&, trial::OwnBlocks&)>;
  explicit Framework(Code code)
      : bench([this, code](Context& ctx) { code(ctx, bench.runner().own_blocks()); }) {
    bench.runner().own_blocks().connect();
  }
  Observation run(Mode mode, int calls = 1) {
    Plan plan = plan_of({});
    for (int i = 0; i < calls; ++i) plan.steps.push_back(CallStep{call_of(1, 1), 1, 0});
    return bench.runner().run(plan, {.mode = mode});
  }
  Bench bench;
};

TEST(OwnBlocks, AreGuardedPoisonedCountedAndChecked) {
  std::uint32_t first = 0;
  Framework framework([&](Context& ctx, trial::OwnBlocks& blocks) {
    auto* p = static_cast<std::uint32_t*>(blocks.allocate(256, ctx.stream()));
    launch(ctx, "read", copy_word, {}, p, &first);
    launch(ctx, "store", store_byte_kernel, {}, reinterpret_cast<unsigned char*>(p) - 1,
           static_cast<unsigned char>(0));
    blocks.free(p);
  });
  const Observation o = framework.run(kGuarded);
  EXPECT_EQ(o.end, End::completed);
  EXPECT_EQ(first, kPoison);
  EXPECT_EQ(buffer(o, 0, "torch#1").dirty_before, 1u);
  ASSERT_TRUE(o.own_memory);
  EXPECT_EQ(o.own_memory->blocks, 1u);
  EXPECT_EQ(o.own_memory->bytes, 256u);
  EXPECT_EQ(o.own_memory->other_blocks, 0u);
}

TEST(OwnBlocks, HaveNamesOfTheTrialAndTheCallThatAllocated) {
  Framework framework([](Context& ctx, trial::OwnBlocks& blocks) {
    blocks.free(blocks.allocate(64, ctx.stream()));
  });
  const Observation o = framework.run(kGuarded, 2);
  EXPECT_EQ(buffer(o, 0, "torch#1").numel, 64u);
  EXPECT_EQ(buffer(o, 1, "torch#2").numel, 64u);
}

// What reads freed memory reads poison, and a write there is seen.
TEST(OwnBlocks, FreedOnesArePoisonedInTheOrderOfTheirStream) {
  std::uint32_t before = 0, after = 0;
  Framework framework([&](Context& ctx, trial::OwnBlocks& blocks) {
    auto* p = static_cast<std::uint32_t*>(blocks.allocate(256, ctx.stream()));
    launch(
        ctx, "set", +[](std::uint32_t* at) { *at = 5; }, {}, p);
    launch(ctx, "read", copy_word, {}, p, &before);
    EXPECT_TRUE(blocks.free(p));
    launch(ctx, "read", copy_word, {}, p, &after);
    launch(
        ctx, "set", +[](std::uint32_t* at) { *at = 6; }, {}, p + 1);
  });
  const Observation o = framework.run(kGuarded);
  EXPECT_EQ(before, 5u);
  EXPECT_NE(after, 5u);
  EXPECT_GT(buffer(o, 0, "torch#1").changed + buffer(o, 0, "torch#1").dirty_gaps, 0u);
}

TEST(OwnBlocks, OnesUsedOnAnotherStreamAreLeftAsTheyAre) {
  std::uint32_t after = 0;
  int other = 0;
  Framework framework([&](Context& ctx, trial::OwnBlocks& blocks) {
    auto* p = static_cast<std::uint32_t*>(blocks.allocate(256, ctx.stream()));
    launch(
        ctx, "set", +[](std::uint32_t* at) { *at = 5; }, {}, p);
    blocks.use_on(p, &other);
    blocks.free(p);
    launch(ctx, "read", copy_word, {}, p, &after);
  });
  framework.run(kGuarded);
  EXPECT_EQ(after, 5u);
}

TEST(OwnBlocks, AreFilledOnTheStreamOfTheProcessThatTheyAreFor) {
  int other = 0;
  Framework framework([&](Context& ctx, trial::OwnBlocks& blocks) {
    blocks.free(blocks.allocate(64, ctx.stream()));
    blocks.free(blocks.allocate(64, &other));
  });
  framework.run(kGuarded);
  EXPECT_EQ(framework.bench.device.logged({"fill foreign"}).size(), 2u);
}

// The framework's caches keep some for the life of the process.
TEST(OwnBlocks, SurvivorsAreNobodyElsesUntilTheyAreFreed) {
  for (const auto allocator :
       {Allocator::guard, Allocator::plain, Allocator::caching, Allocator::pool}) {
    std::vector<void*> kept;
    Framework framework([&](Context& ctx, trial::OwnBlocks& blocks) {
      kept.push_back(blocks.allocate(4096, ctx.stream()));
    });
    Mode mode = kGuarded;
    mode.allocator = allocator;
    framework.run(mode);
    std::memset(kept.at(0), 0x5a, 4096);
    framework.run(mode);
    ASSERT_EQ(kept.size(), 2u);
    EXPECT_NE(kept[0], kept[1]) << name_of(allocator);
    EXPECT_EQ(static_cast<unsigned char*>(kept[0])[4095], 0x5a) << name_of(allocator);
    for (void* at : kept) EXPECT_TRUE(framework.bench.runner().own_blocks().free(at));
    EXPECT_FALSE(framework.bench.runner().own_blocks().free(kept[0]));
    kept.clear();
    framework.run(mode);  // takes the freed memory back first
    framework.bench.runner().own_blocks().free(kept.at(0));
    kept.clear();
    framework.run(mode);
    EXPECT_EQ(framework.bench.device.guard().released_in_flight, 0u);
    framework.bench.runner().own_blocks().free(kept.at(0));
    framework.bench.runner().own_blocks().begin();
    EXPECT_EQ(framework.bench.device.guard().live_bytes, 0u) << name_of(allocator);
  }
}

TEST(OwnBlocks, OutsideOfATrialAreOfNoTrial) {
  Framework framework([](Context&, trial::OwnBlocks&) {});
  trial::OwnBlocks& blocks = framework.bench.runner().own_blocks();
  void* at = blocks.allocate(64, nullptr);
  ASSERT_NE(at, nullptr);
  const Observation o = framework.run(kGuarded);
  EXPECT_EQ(o.own_memory->blocks, 0u);
  EXPECT_TRUE(blocks.free(at));
  EXPECT_FALSE(blocks.free(at));
}

// A finalizer that allocates runs when results are already being collected.
TEST(OwnBlocks, AllocatedWhenTheTargetIsDestroyedAreOfNoTrial) {
  struct Late : Target {
    explicit Late(trial::OwnBlocks*& blocks) : blocks_(blocks) {}
    ~Late() override { blocks_->free(blocks_->allocate(64, nullptr)); }
    void run(Context& ctx) override { blocks_->free(blocks_->allocate(32, ctx.stream())); }
    trial::OwnBlocks*& blocks_;
  };
  Bench bench([](Context&) {});
  trial::OwnBlocks* blocks = nullptr;
  TargetSpec spec = double_spec();
  spec.name = "late";
  EXPECT_TRUE(
      bench.registry.add({spec, DeviceKind::host, [&] { return std::make_unique<Late>(blocks); }}));
  blocks = &bench.runner().own_blocks();
  blocks->connect();
  Plan plan = plan_of({CallStep{call_of(1, 1), 1, 0}});
  plan.target = "late";
  const Observation o = bench.runner().run(plan, {.mode = kGuarded});
  EXPECT_EQ(o.end, End::completed);
  EXPECT_EQ(o.own_memory->blocks, 1u);
  EXPECT_EQ(o.own_memory->other_blocks, 1u);
  EXPECT_EQ(o.calls.at(0).buffers.size(), 3u);  // x, y, torch#1
}

TEST(OwnBlocks, AWaitOfTheHostOpensTheGateUntilTheNextCall) {
  Framework framework([](Context& ctx, trial::OwnBlocks& blocks) {
    launch(ctx, "k", nothing_kernel, {});
    blocks.open_gate();
  });
  Mode mode = kGuarded;
  mode.launch = Launch::gated;
  framework.run(mode, 2);
  EXPECT_EQ(framework.bench.device.logged({"hold", "open", "launch"}),
            (std::vector<std::string>{"hold", "launch k", "open", "hold", "launch k", "open"}));
}

TEST(OwnBlocks, WithoutAFrameworkNothingIsSaidAboutThem) {
  Bench bench(run_double);
  EXPECT_FALSE(bench.run({call_of(1, 1)}).own_memory);
}

}  // namespace
}  // namespace redzone::testing

// The lazily compiled launch without a device: what it compiles, tries, freezes and requests, under
// the right rules and under each wrong one.
#include "lazy_launch.h"

#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>

#include <algorithm>

#include "launcher/rule_knobs.h"
#include "targets/recording_context.h"

namespace redzone::lazy {
namespace {

using redzone::test::RecordedScratch;
using redzone::test::RecordingContext;

struct Seen {
  std::vector<redzone::test::RecordedVariant> variants;
  std::vector<redzone::test::RecordedLaunch> launches;
  std::vector<RecordedScratch> scratch;  // of the kernels
  std::size_t saved = 0;                 // number of copies of y that got memory
};

class Launcher {
 public:
  explicit Launcher(Rules rules = {}) : target_(rules) {}

  Seen call(std::int64_t M, std::int64_t N, const std::string& tiles = "16x16",
            std::int64_t num_ctas = 1) {
    RecordingContext ctx(spec_, {{"M", M}, {"N", N}}, {{"tiles", tiles}, {"num_ctas", num_ctas}});
    target_.run(ctx);
    EXPECT_FALSE(ctx.ended());
    return {ctx.variants, ctx.launches, ctx.scratches, ctx.plain_scratches};
  }

 private:
  TargetSpec spec_ = LazyLaunch::spec("t", Category::kernel);
  LazyLaunch target_;
};

std::size_t owed(const ScratchNeed& n) {
  return n.bytes_per_cta * static_cast<std::size_t>(n.grid.x * n.grid.y * n.grid.z * n.num_ctas);
}

TEST(RuleKnobs, AreTheRulesWhereTheyAreNamed) {
  Rules wrong;
  wrong.scratch = ScratchRule::null;
  wrong.key = KeyRule::without_dim;
  const Rules none = rules_of({}, wrong);
  EXPECT_EQ(none.scratch, ScratchRule::null);
  EXPECT_EQ(none.key, KeyRule::without_dim);
  const Rules named = rules_of({{"scratch_rule", "per_cta"},
                                {"grid_rule", "first_call"},
                                {"key_rule", "all_dims"},
                                {"tuning_rule", "accumulates"}},
                               wrong);
  EXPECT_EQ(named.scratch, ScratchRule::per_cta);
  EXPECT_EQ(named.grid, GridRule::first_call);
  EXPECT_EQ(named.key, KeyRule::all_dims);
  EXPECT_EQ(named.tuning, TuningRule::accumulates);
}

// The default of each rule is right, and the generator draws only the defaults.
TEST(RuleKnobs, AreRightWhereTheyAreDrawn) {
  Config config;
  for (const auto& knob : rule_knobs()) {
    EXPECT_EQ(knob.draws(), 1u) << knob.name;
    EXPECT_GT(knob.values.size(), 1u) << knob.name;
    config[knob.name] = knob.values.front();
  }
  Rules wrong;
  wrong.scratch = ScratchRule::per_cta;
  wrong.grid = GridRule::first_call;
  wrong.key = KeyRule::without_dim;
  wrong.tuning = TuningRule::accumulates;
  const Rules rules = rules_of(config, wrong), right;
  EXPECT_EQ(rules.scratch, right.scratch);
  EXPECT_EQ(rules.grid, right.grid);
  EXPECT_EQ(rules.key, right.key);
  EXPECT_EQ(rules.tuning, right.tuning);
}

TEST(LazyLaunch, CompilesOnTheFirstCallOfAShapeOnly) {
  Launcher launcher;
  EXPECT_EQ(launcher.call(40, 50).variants.size(), 1u);
  EXPECT_TRUE(launcher.call(40, 50).variants.empty());
  EXPECT_EQ(launcher.call(50, 40).variants.size(), 1u);
  EXPECT_EQ(launcher.call(40, 50, "16x64").variants.size(), 1u);
  EXPECT_EQ(launcher.call(40, 50, "16x16", 2).variants.size(), 1u);
  EXPECT_TRUE(launcher.call(40, 50).variants.empty());
}

TEST(LazyLaunch, TriesEachConfigOnceAndPutsYBack) {
  Launcher launcher;
  const Seen first = launcher.call(9, 64, "auto");
  EXPECT_EQ(first.variants.size(), 3u);
  ASSERT_EQ(first.launches.size(), 4u);
  EXPECT_EQ(first.saved, 3u);
  EXPECT_EQ(first.launches.back().shape.grid.x, 4) << "16x16 covers no more than 16x64, 32x16 more";
  const Seen later = launcher.call(9, 64, "auto");
  ASSERT_EQ(later.launches.size(), 1u);
  EXPECT_EQ(later.saved, 0u);
  EXPECT_EQ(later.launches[0].shape.grid.x, first.launches.back().shape.grid.x);
}

TEST(LazyLaunch, TriesNothingWhereThereIsNoChoice) {
  const Seen seen = Launcher().call(40, 50);
  EXPECT_EQ(seen.launches.size(), 1u);
  EXPECT_EQ(seen.saved, 0u);
}

TEST(LazyLaunch, WithoutRestoringItTriesOnTheOutputItself) {
  EXPECT_EQ(Launcher({.tuning = TuningRule::accumulates}).call(9, 64, "auto").saved, 0u);
}

TEST(LazyLaunch, LaunchesTheCtasOfAProgramAlongX) {
  const Seen seen = Launcher().call(33, 17, "16x16", 2);
  ASSERT_EQ(seen.launches.size(), 1u);
  const Extent& grid = seen.launches[0].shape.grid;
  EXPECT_EQ(grid.x, 4);
  EXPECT_EQ(grid.y, 3);
  ASSERT_EQ(seen.scratch.size(), 1u);
  const ScratchNeed& need = seen.scratch[0].need;
  EXPECT_EQ(need.grid.x, 2) << "programs";
  EXPECT_EQ(need.num_ctas, 2);
  EXPECT_EQ(need.bytes_per_cta, 8u * 16 * 4);
  EXPECT_EQ(owed(need), static_cast<std::size_t>(grid.x * grid.y) * need.bytes_per_cta);
}

// Bytes that two calls of one shape request: 6 programs of 1024 bytes, with two CTAs each.
std::pair<std::size_t, std::size_t> asked(ScratchRule rule) {
  Launcher launcher({.scratch = rule});
  const auto once = [&] {
    const Seen seen = launcher.call(33, 17, "16x16", 2);
    EXPECT_EQ(seen.scratch.size(), 1u);
    EXPECT_EQ(owed(seen.scratch[0].need), 6u * 1024) << "what is needed is no rule's business";
    return seen.scratch[0].bytes;
  };
  const auto first = once();
  return {first, once()};
}

TEST(LazyLaunch, EachScratchRule) {
  using Pair = std::pair<std::size_t, std::size_t>;
  EXPECT_EQ(asked(ScratchRule::right), Pair(6144, 6144));
  EXPECT_EQ(asked(ScratchRule::per_cta), Pair(512, 512));
  EXPECT_EQ(asked(ScratchRule::first_call_only), Pair(6144, 512));
  EXPECT_EQ(asked(ScratchRule::without_num_ctas), Pair(3072, 3072));
  EXPECT_EQ(asked(ScratchRule::null), Pair(0, 0));
}

std::int64_t second_grid(Rules rules) {
  Launcher launcher(rules);
  launcher.call(1, 17);
  const Seen seen = launcher.call(1, 65);
  EXPECT_EQ(seen.scratch.at(0).bytes, owed(seen.scratch[0].need)) << "right for what is launched";
  return seen.launches.at(0).shape.grid.x;
}

TEST(LazyLaunch, EachRuleOfTheGridAndTheKey) {
  EXPECT_EQ(second_grid({}), 5);
  EXPECT_EQ(second_grid({.grid = GridRule::first_call}), 2);
  EXPECT_EQ(second_grid({.key = KeyRule::without_dim}), 2);
}

// Under the right rules each request is exactly what its launch needs, after any earlier calls.
RC_GTEST_PROP(LazyLaunch, TheRightRulesOweNothing, ()) {
  Launcher launcher;
  const int calls = *rc::gen::inRange(1, 12);
  for (int i = 0; i < calls; ++i) {
    const auto M = *rc::gen::inRange<std::int64_t>(1, 80);
    const auto N = *rc::gen::inRange<std::int64_t>(1, 80);
    const auto tiles = *rc::gen::elementOf(
        std::vector<std::string_view>(tile_names().begin(), tile_names().end()));
    const Seen seen =
        launcher.call(M, N, std::string(tiles), *rc::gen::inRange<std::int64_t>(1, 3));
    RC_ASSERT(seen.launches.size() == seen.scratch.size());
    for (std::size_t k = 0; k < seen.launches.size(); ++k) {
      const Extent& grid = seen.launches[k].shape.grid;
      const ScratchNeed& need = seen.scratch[k].need;
      RC_ASSERT(seen.scratch[k].bytes == owed(need));
      RC_ASSERT(owed(need) == static_cast<std::size_t>(grid.x * grid.y) * need.bytes_per_cta);
      RC_ASSERT(seen.scratch[k].align >= need.align);
    }
  }
}

RC_GTEST_PROP(LazyTuner, TheGridCoversEveryShapeAndNoMoreThanATile, ()) {
  const auto M = *rc::gen::inRange<std::int64_t>(1, 5000);
  const auto N = *rc::gen::inRange<std::int64_t>(1, 5000);
  for (const std::int64_t num_ctas : {1, 2})
    for (const auto& c : candidates("auto", num_ctas)) {
      const Extent grid = grid_of(c, M, N);
      RC_ASSERT(grid.x * c.columns >= N && (grid.x - 1) * c.columns < N);
      RC_ASSERT(grid.y * c.rows >= M && (grid.y - 1) * c.rows < M);
      RC_ASSERT(c.num_ctas == num_ctas && c.rows % c.num_ctas == 0);
    }
}

// From the second call on, the launched config is the one that covers the least.
RC_GTEST_PROP(LazyLaunch, TheBestCoversNoMoreThanAnyOther, ()) {
  const auto M = *rc::gen::inRange<std::int64_t>(1, 1000);
  const auto N = *rc::gen::inRange<std::int64_t>(1, 1000);
  Launcher launcher;
  launcher.call(M, N, "auto");
  const Seen later = launcher.call(M, N, "auto");
  RC_ASSERT(later.launches.size() == 1u);
  std::int64_t least = 0;
  bool best = false;
  for (const auto& c : candidates("auto", 1)) {
    const std::int64_t covered = covered_by(c, M, N);
    least = least == 0 ? covered : std::min(least, covered);
  }
  for (const auto& c : candidates("auto", 1)) {
    const Extent grid = grid_of(c, M, N);
    best |= covered_by(c, M, N) == least && grid.x == later.launches[0].shape.grid.x &&
            grid.y == later.launches[0].shape.grid.y;
  }
  RC_ASSERT(best);
}

TEST(LazyTuner, KnowsItsNames) {
  EXPECT_EQ(tile_names().front(), "auto") << "the default";
  for (const auto name : tile_names().subspan(1)) {
    const auto one = candidates(name, 2);
    ASSERT_EQ(one.size(), 1u);
    EXPECT_EQ(name, std::to_string(one[0].rows) + "x" + std::to_string(one[0].columns));
  }
  EXPECT_THROW(candidates("7x7", 1), std::out_of_range);
}

TEST(LazyLaunch, DeclaresWhatItLaunchesWhereItHasNoChoice) {
  const TargetSpec spec = LazyLaunch::spec("t", Category::kernel);
  const Dims dims{{"M", 33}, {"N", 17}};
  const auto declared =
      spec.geometry(dims, {{"tiles", "16x16"}, {"num_ctas", std::int64_t{2}}}).launches;
  ASSERT_EQ(declared.size(), 1u);
  const auto made = Launcher().call(33, 17, "16x16", 2).launches.at(0);
  EXPECT_EQ(declared[0].kernel, made.kernel);
  EXPECT_EQ(declared[0].grid[0], made.shape.grid.x);
  EXPECT_EQ(declared[0].grid[1], made.shape.grid.y);
  EXPECT_EQ(declared[0].block[0], made.shape.block.x);
  EXPECT_TRUE(
      spec.geometry(dims, {{"tiles", "auto"}, {"num_ctas", std::int64_t{1}}}).launches.empty());
}

}  // namespace
}  // namespace redzone::lazy

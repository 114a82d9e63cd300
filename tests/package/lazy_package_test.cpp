// The lazily compiled launch over a package, without a device: its configs, the trials that it
// makes, what it freezes and what it requests, under the right rules and under each wrong one.
#include "package/lazy_package.h"

#include <gtest/gtest.h>

#include <set>

#include "core/validate.h"
#include "generators/plan_generator.h"
#include "package/reader.h"
#include "package/sample.h"
#include "target/spec_check.h"
#include "targets/recording_context.h"

namespace redzone::package {
namespace {

using redzone::test::RecordedScratch;
using redzone::test::RecordingContext;

struct Seen {
  std::vector<redzone::test::RecordedLaunch> launches;
  std::vector<RecordedScratch> scratch;
  std::size_t saved = 0;  // tensors that were given memory for a copy
  std::string unsupported;
};

std::shared_ptr<const TunedChoice> choice_of(Package package) {
  return std::make_shared<const TunedChoice>(std::make_shared<const Package>(std::move(package)));
}

class Launcher {
 public:
  explicit Launcher(std::shared_ptr<const TunedChoice> choice, const lazy::Rules& rules = {})
      : spec_(lazy_spec_of(choice)), target_(choice, nullptr, rules) {}

  Seen call(std::int64_t R, std::int64_t N, const std::string& tuned = "BLOCK=128 num_ctas=2",
            Config config = {}) {
    config.insert({{"grid", std::string("flat")}, {"tuned", tuned}});
    RecordingContext ctx(spec_, {{"R", R}, {"N", N}}, config);
    target_.run(ctx);
    return {ctx.launches, ctx.scratches, ctx.plain_scratches, ctx.unsupported_reason};
  }

 private:
  TargetSpec spec_;
  LazyPackageTarget target_;
};

class LazyPackages : public testing::Test {
 protected:
  const test::SamplePackage sample_;
  const Package package_ = *read_package(sample_.folder());
  const std::shared_ptr<const TunedChoice> choice_ = choice_of(package_);
};

std::size_t owed(const ScratchNeed& n) {
  return n.bytes_per_cta * static_cast<std::size_t>(n.grid.x * n.grid.y * n.grid.z * n.num_ctas);
}

TEST_F(LazyPackages, TakeTheRulesThatACallNames) {
  Launcher launcher(choice_);
  const auto right = launcher.call(8, 1024).scratch;
  const auto wrong =
      launcher.call(8, 1024, "BLOCK=128 num_ctas=2", {{"scratch_rule", std::string("per_cta")}})
          .scratch;
  ASSERT_EQ(right.size(), 1u);
  ASSERT_EQ(wrong.size(), 1u);
  EXPECT_EQ(right[0].bytes, owed(right[0].need));
  EXPECT_EQ(wrong[0].bytes, wrong[0].need.bytes_per_cta);
  EXPECT_LT(wrong[0].bytes, right[0].bytes);
}

TEST_F(LazyPackages, HaveAKnobForTheChoiceInsteadOfTheTunedOnes) {
  const TargetSpec spec = lazy_spec_of(choice_);
  ASSERT_EQ(spec.knobs.size(), 2u);
  EXPECT_EQ(spec.knobs[0].name, "grid");
  EXPECT_EQ(spec.knobs[1].name, "tuned");
  EXPECT_EQ(
      spec.knobs[1].values,
      (std::vector<Value>{std::string("auto"), std::string("BLOCK=128 num_ctas=1"),
                          std::string("BLOCK=128 num_ctas=2"), std::string("BLOCK=256 num_ctas=1"),
                          std::string("BLOCK=256 num_ctas=2")}));
  EXPECT_EQ(spec_problem(spec), std::nullopt);
  EXPECT_FALSE(spec.capturable);
}

TEST_F(LazyPackages, HaveNoSuchKnobWhereThereIsNothingToChoose) {
  Package package = package_;
  package.tuned.clear();
  const TargetSpec spec = lazy_spec_of(choice_of(std::move(package)));
  EXPECT_EQ(spec.knobs.size(), 3u);
  EXPECT_EQ(spec.geometry({{"R", 1}, {"N", 17}}, {{"BLOCK", std::int64_t{128}},
                                                  {"grid", std::string("flat")},
                                                  {"num_ctas", std::int64_t{1}}})
                .launches.size(),
            1u);
}

TEST_F(LazyPackages, TryEachConfigOnceAndKeepTheOneWithTheFewestCtas) {
  Launcher launcher(choice_);
  const Seen first = launcher.call(3, 1000, "auto");
  ASSERT_EQ(first.launches.size(), 5u);
  EXPECT_EQ(first.saved, 0u) << "outputs are written, not added to";
  EXPECT_EQ(first.launches.back().shape.grid.x, 4) << "blocks of 256, one CTA each";
  const Seen later = launcher.call(3, 1000, "auto");
  ASSERT_EQ(later.launches.size(), 1u);
  EXPECT_EQ(later.launches[0].shape.grid.x, 4);
  EXPECT_EQ(launcher.call(3, 1001, "auto").launches.size(), 5u) << "another shape";
}

TEST_F(LazyPackages, PutBackWhatTheKernelsAddTo) {
  Package package = package_;
  package.tensors[1].role = Role::inout;
  const auto choice = choice_of(std::move(package));
  EXPECT_EQ(Launcher(choice).call(3, 1000, "auto").saved, 4u);
  EXPECT_EQ(Launcher(choice, {.tuning = lazy::TuningRule::accumulates}).call(3, 1000, "auto").saved,
            0u);
}

TEST_F(LazyPackages, LaunchAsThePackageDoes) {
  const Seen seen = Launcher(choice_).call(3, 1000);
  ASSERT_EQ(seen.launches.size(), 1u);
  const auto& launch = seen.launches[0];
  EXPECT_EQ(launch.shape.grid.x, 16);
  EXPECT_EQ(launch.shape.grid.y, 3);
  EXPECT_EQ(launch.shape.cluster.x, 2);
  EXPECT_EQ(launch.shape.block.x, 128);
  EXPECT_EQ(launch.shape.shared_bytes, 57344u);
  ASSERT_EQ(launch.arguments.size(), 7u);
  EXPECT_EQ(launch.arguments[2], 1000u);
  EXPECT_EQ(launch.arguments[3], 3u);
  EXPECT_NE(launch.arguments[5], 0u) << "global scratch";
  ASSERT_EQ(seen.scratch.size(), 1u);
  EXPECT_EQ(seen.scratch[0].bytes, 384u * 8 * 3 * 2);
  EXPECT_EQ(seen.scratch[0].align, 128u);
}

// Bytes that two calls of one shape request: 24 programs of 384 bytes, with two CTAs each.
std::pair<std::size_t, std::size_t> asked(const std::shared_ptr<const TunedChoice>& choice,
                                          lazy::ScratchRule rule) {
  Launcher launcher(choice, {.scratch = rule});
  const auto once = [&] {
    const Seen seen = launcher.call(3, 1000);
    EXPECT_EQ(seen.scratch.size(), 1u);
    EXPECT_EQ(owed(seen.scratch[0].need), 18432u) << "what is needed is no rule's business";
    return seen.scratch[0].bytes;
  };
  const auto first = once();
  return {first, once()};
}

TEST_F(LazyPackages, EachScratchRule) {
  using Pair = std::pair<std::size_t, std::size_t>;
  using enum lazy::ScratchRule;
  EXPECT_EQ(asked(choice_, right), Pair(18432, 18432));
  EXPECT_EQ(asked(choice_, per_cta), Pair(384, 384));
  EXPECT_EQ(asked(choice_, first_call_only), Pair(18432, 384));
  EXPECT_EQ(asked(choice_, without_num_ctas), Pair(9216, 9216));
  EXPECT_EQ(asked(choice_, null), Pair(0, 0));
}

TEST_F(LazyPackages, EachRuleOfTheGridAndTheKey) {
  const auto second = [&](lazy::Rules rules) {
    Launcher launcher(choice_, rules);
    launcher.call(1, 17);
    return launcher.call(1, 1000).launches.at(0);
  };
  EXPECT_EQ(second({}).shape.grid.x, 16);
  EXPECT_EQ(second({.grid = lazy::GridRule::first_call}).shape.grid.x, 2);
  const auto stale = second({.key = lazy::KeyRule::without_dim});
  EXPECT_EQ(stale.shape.grid.x, 2);
  EXPECT_EQ(stale.arguments.at(2), 1000u) << "the arguments are those of the call";
}

// The variant compiled for the forgotten N of 1 has no argument n at all.
TEST_F(LazyPackages, WithoutADimInTheKeyAVariantOfAnotherClassIsLaunched) {
  Launcher launcher(choice_, {.key = lazy::KeyRule::without_dim});
  EXPECT_EQ(launcher.call(1, 1).launches.at(0).arguments.size(), 6u);
  EXPECT_EQ(launcher.call(1, 17).launches.at(0).arguments.size(), 6u);
}

TEST_F(LazyPackages, DeclareWhatTheyLaunchWhereThereIsNoChoice) {
  const TargetSpec spec = lazy_spec_of(choice_);
  const Dims dims{{"R", 3}, {"N", 1000}};
  const auto config = [](const char* tuned) {
    return Config{{"grid", std::string("flat")}, {"tuned", std::string(tuned)}};
  };
  const auto declared = spec.geometry(dims, config("BLOCK=256 num_ctas=2")).launches;
  ASSERT_EQ(declared.size(), 1u);
  EXPECT_EQ(declared[0].grid[0], 8);
  EXPECT_TRUE(spec.geometry(dims, config("auto")).launches.empty());
  EXPECT_EQ(spec.work(dims, config("BLOCK=256 num_ctas=2")), 3000);
  EXPECT_EQ(spec.work(dims, config("auto")), 15000);
}

TEST_F(LazyPackages, RefuseWhatNoVariantServes) {
  Package none = package_;
  none.by_key.clear();
  const Seen seen = Launcher(choice_of(std::move(none))).call(1, 17, "auto");
  EXPECT_TRUE(seen.launches.empty());
  EXPECT_NE(seen.unsupported.find("no variant was compiled for"), std::string::npos);
}

// Over plans of the generator: each request is exactly what its launch needs.
TEST_F(LazyPackages, TheRightRulesOweNothing) {
  const TargetSpec spec = lazy_spec_of(choice_);
  generators::PlanGenerator generator(spec, generators::none_budget(), 3);
  std::set<Value> tuned;
  for (int i = 0; i < 200; ++i) {
    LazyPackageTarget target(choice_, nullptr, {});
    const Plan plan = generator.next();
    ASSERT_TRUE(validate(plan, spec, "plan"));
    for (const auto* step : calls_of(plan)) {
      RecordingContext ctx(spec, step->call.dims, step->call.config);
      tuned.insert(step->call.config.at("tuned"));
      target.run(ctx);
      ASSERT_EQ(ctx.unsupported_reason, "");
      ASSERT_EQ(ctx.launches.size(), ctx.scratches.size());
      for (std::size_t k = 0; k < ctx.launches.size(); ++k) {
        const Extent& grid = ctx.launches[k].shape.grid;
        const auto& scratch = ctx.scratches[k];
        ASSERT_EQ(scratch.bytes, owed(scratch.need));
        ASSERT_EQ(scratch.bytes, static_cast<std::size_t>(grid.x * grid.y * grid.z) * 384);
      }
    }
  }
  EXPECT_EQ(tuned.size(), 5u) << "every choice was drawn";
}

}  // namespace
}  // namespace redzone::package

// The launches of a call compared with the target's declaration, and the screen of the dry run.
#include "oracles/launch_mismatch.h"

#include <gtest/gtest.h>

#include "oracles/catalog.h"
#include "oracles/dry_screen.h"
#include "oracles/observations.h"

namespace redzone::oracles {
namespace {

// Declares `prepare` once and `add` of N blocks twice.
TargetSpec launching_spec() {
  TargetSpec s;
  s.name = "t";
  s.geometry = [](const Dims& d, const Config&) -> Geometry {
    const LaunchDecl add{"add", {get(d, "N"), 1, 1}, {64, 1, 1}, 16};
    return {{{"prepare", {1, 1, 1}, {32, 1, 1}, 0}, add, add}, {}};
  };
  return s;
}

LaunchObservation add(std::int64_t blocks) {
  return {"add", {blocks, 1, 1}, {64, 1, 1}, 16};
}
const LaunchObservation kPrepare{"prepare", {1, 1, 1}, {32, 1, 1}, 0};

// One call of N = 3 with these launches.
Verdict judge_launches(std::vector<LaunchObservation> launches,
                       const TargetSpec& s = launching_spec()) {
  Observation o = testing::completed({7});
  o.calls[0].launches = std::move(launches);
  return LaunchMismatchOracle().judge(testing::plan_of_calls({3}), s, {&o, 1});
}

std::string side(std::vector<LaunchObservation> launches) {
  const Verdict v = judge_launches(std::move(launches));
  EXPECT_TRUE(v.failed());
  EXPECT_EQ(v.signature.kind, FailKind::launch_config);
  EXPECT_EQ(v.signature.where, "add");
  return v.signature.side;
}

TEST(Launches, AsDeclared) {
  EXPECT_EQ(judge_launches({kPrepare, add(3), add(3)}).outcome, Outcome::pass);
  EXPECT_EQ(judge_launches({add(3), kPrepare, add(3)}).outcome, Outcome::pass)
      << "kernels are independent";
}

TEST(Launches, TheLastOnesCount) {
  EXPECT_EQ(judge_launches({add(7), kPrepare, add(3), add(3)}).outcome, Outcome::pass);
  EXPECT_TRUE(judge_launches({kPrepare, add(3), add(3), add(7)}).failed());
}

TEST(Launches, KernelsThatAreNotDeclaredAreFree) {
  EXPECT_EQ(judge_launches({{"other", {9, 9, 9}, {1, 1, 1}, 0}, kPrepare, add(3), add(3)}).outcome,
            Outcome::pass);
}

TEST(Launches, NamesWhatDiffers) {
  EXPECT_EQ(side({kPrepare, add(3), add(2)}), "grid");
  LaunchObservation block = add(3), shared = add(3);
  block.block[0] = 32;
  shared.shared_bytes = 0;
  EXPECT_EQ(side({kPrepare, block, add(3)}), "block");
  EXPECT_EQ(side({kPrepare, shared, add(3)}), "shared");
  EXPECT_EQ(side({kPrepare, add(3)}), "launch");
  const Verdict v = judge_launches({kPrepare, add(3), add(2)});
  EXPECT_EQ(v.reason,
            "launch of add in call 1 (N = 3): the grid is (2, 1, 1), declared is (3, 1, 1)");
}

TEST(Launches, SaysNothingWithoutADeclaration) {
  EXPECT_EQ(judge_launches({add(3)}, {}).outcome, Outcome::not_applicable);
  TargetSpec none = launching_spec();
  none.geometry = [](const Dims&, const Config&) { return Geometry{}; };
  EXPECT_EQ(judge_launches({add(3)}, none).outcome, Outcome::pass) << "of this call";
}

Verdict screen_one(const Observation& o) {
  return DryScreenOracle().judge(testing::plan_of_calls({3}), launching_spec(), {&o, 1});
}

TEST(DryScreen, WantsOneTrialInThePlansOwnMode) {
  Plan plan = testing::plan_of_calls({3});
  plan.mode.placement = Placement::guard_before;
  const auto trials = DryScreenOracle().expand(plan, launching_spec());
  ASSERT_EQ(trials.size(), 1u);
  EXPECT_EQ(trials[0].mode, plan.mode);
}

TEST(DryScreen, JudgesFaultsLaunchesAndScratch) {
  Observation o = testing::completed({7});
  o.calls[0].launches = {kPrepare, add(3), add(3)};
  EXPECT_EQ(screen_one(o).outcome, Outcome::pass);
  o.calls[0].scratch = {{.name = "s", .bytes = 4, .bytes_per_cta = 4, .grid = {2, 1, 1}}};
  EXPECT_EQ(screen_one(o).signature.kind, FailKind::scratch);
  o.calls[0].launches[1].grid[0] = 1;
  EXPECT_EQ(screen_one(o).signature.kind, FailKind::launch_config);
  EXPECT_EQ(screen_one(testing::faulted({.code = "invalid-launch"})).signature.kind,
            FailKind::fault);
  EXPECT_EQ(screen_one(testing::ended(End::unsupported)).outcome, Outcome::not_applicable);
  EXPECT_EQ(screen_one(testing::ended(End::worker_error)).outcome, Outcome::harness_error);
}

// A pass needs something that was compared.
TEST(DryScreen, SaysThatAPlanLaunchesNothing) {
  const auto screened = [](const Observation& o, const TargetSpec& spec) {
    return DryScreenOracle().judge(testing::plan_of_calls({3, 4}), spec, {&o, 1});
  };
  Observation o = testing::completed({7, 7});
  EXPECT_EQ(screened(o, {}).outcome, Outcome::not_applicable);
  EXPECT_EQ(screened(o, {}).reason, "its calls launch nothing");
  TargetSpec none = launching_spec();
  none.geometry = [](const Dims&, const Config&) { return Geometry{}; };
  EXPECT_EQ(screened(o, none).outcome, Outcome::pass) << "as declared";
  EXPECT_TRUE(screened(o, launching_spec()).failed());
  o.calls[1].launches = {add(3)};
  EXPECT_EQ(screened(o, {}).outcome, Outcome::pass);
  o.calls[1].launches.clear();
  o.calls[0].scratch = {{.name = "s", .bytes = 8, .bytes_per_cta = 4, .grid = {2, 1, 1}}};
  EXPECT_EQ(screened(o, {}).outcome, Outcome::pass);
}

TEST(DryScreen, TheDryCatalogHasNoOracleThatComparesResults) {
  const Catalog dry = Catalog::dry();
  EXPECT_TRUE(dry.is_dry());
  EXPECT_TRUE(dry.comparing().empty());
  std::vector<std::string_view> names;
  for (const auto* oracle : dry.all()) names.push_back(oracle->name());
  EXPECT_EQ(names, (std::vector<std::string_view>{"launch-config", "fault", "launch-mismatch",
                                                  "scratch"}));
  EXPECT_EQ(dry.screen().name(), "dry-screen");
  EXPECT_EQ(dry.find("history"), nullptr);
  EXPECT_FALSE(Catalog().is_dry());
  const Catalog catalog;
  const Oracle* oracle = catalog.find("launch-mismatch");
  EXPECT_NE(oracle, nullptr) << "a finding of one device replays on another";
  EXPECT_EQ(catalog.find("launches"), oracle) << "its first name";
}

}  // namespace
}  // namespace redzone::oracles

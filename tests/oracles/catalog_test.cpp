// Which oracles the catalog has and in which order, and the oracles that repeat a plan as it is.
#include <gtest/gtest.h>

#include <algorithm>

#include "oracles/catalog.h"
#include "oracles/checks.h"
#include "oracles/observations.h"
#include "oracles/repetition.h"

namespace redzone::oracles {
namespace {

using testing::compared_spec;
using testing::completed;
using testing::plan_of_calls;

TEST(Catalog, ComparesAlongTheAxesThatItIsGivenMostSpecificFirst) {
  const Catalog all, some({}, SanitizerTool::none, {}, mode_axes_with(SeedDecides::nothing));
  EXPECT_NE(all.find("schedule"), nullptr);
  EXPECT_EQ(some.find("schedule"), nullptr);
  EXPECT_NE(some.find("order"), nullptr);
  EXPECT_EQ(some.comparing().size() + 1, all.comparing().size());
  EXPECT_EQ(all.comparing()[0]->name(), "order");
  EXPECT_EQ(all.comparing()[1]->name(), "uninitialized-local");
  EXPECT_EQ(all.comparing()[2]->name(), "repetition");
  EXPECT_EQ(all.comparing().back()->name(), "reference");
  const auto place = [&](std::string_view name) {
    const auto& oracles = all.comparing();
    return std::find_if(oracles.begin(), oracles.end(),
                        [&](const auto& o) { return o->name() == name; }) -
           oracles.begin();
  };
  for (const auto& a : all_mode_axes())
    for (const auto& b : all_mode_axes())
      if (!a.oracle.empty() && !b.oracle.empty() && more_specific(a.kind, b.kind)) {
        EXPECT_LT(place(a.oracle), place(b.oracle));
      }
}

TEST(Repetition, FailsWhenAnyOfTheEqualRunsDiffers) {
  const RepetitionOracle oracle;
  const Plan plan = plan_of_calls({1});
  const auto trials = oracle.expand(plan, compared_spec());
  std::vector<Observation> all;
  for (const auto& trial : trials) {
    EXPECT_EQ(trial, trials[0]);
    all.push_back(completed({1}));
  }
  ASSERT_GE(all.size(), 3u);
  EXPECT_EQ(oracle.judge(plan, compared_spec(), all).outcome, Outcome::pass);
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto one = all;
    one[i] = completed({2});
    EXPECT_EQ(oracle.judge(plan, compared_spec(), one).signature.kind, FailKind::nondeterministic);
  }
  all.back().end = End::hang;
  EXPECT_EQ(oracle.judge(plan, compared_spec(), all).outcome, Outcome::inconclusive);
}

TEST(Reference, MismatchesFail) {
  auto o = completed({1});
  o.calls[0].references = {{"y", 8, 3, 2, 1.5, 1.0, 1e5}};
  const auto v = judge_reference("reference", plan_of_calls({1}), o);
  ASSERT_TRUE(v);
  EXPECT_EQ(v->signature.buffer, "y");
  EXPECT_NE(v->reason.find("element 2 is 1.5, expected 1"), std::string::npos) << v->reason;
}

TEST(Catalog, EveryOracleIsFoundByItsName) {
  const Catalog catalog;
  for (const auto* oracle : catalog.all()) EXPECT_EQ(catalog.find(oracle->name()), oracle);
  EXPECT_EQ(catalog.find("screen"), &catalog.screen());
  EXPECT_EQ(catalog.find("nothing"), nullptr);
}

}  // namespace
}  // namespace redzone::oracles

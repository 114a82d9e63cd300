// Targets declared nondeterministic are compared with their reference, if they have one.
#include <gtest/gtest.h>

#include "oracles/along.h"
#include "oracles/async.h"
#include "oracles/axis_oracle.h"
#include "oracles/observations.h"
#include "oracles/repetition.h"
#include "oracles/screen.h"

namespace redzone::oracles {
namespace {

using testing::completed;
using testing::plan_of_calls;

TargetSpec unordered_spec(bool has_reference = true) {
  TargetSpec s;
  s.name = "t";
  s.deterministic = false;
  s.has_reference = has_reference;
  return s;
}

// One call, compared with the reference, whose outputs differ from those of every other trial.
Observation trial_result(bool right) {
  static std::uint64_t digest = 0;
  Observation o = completed({++digest});
  o.calls[0].comparison = Comparison::compared;
  o.calls[0].references = {{.tensor = "y", .numel = 8, .mismatches = right ? 0u : 3u}};
  return o;
}

// The oracle's verdict if each trial that it requests is right or wrong as `right(trial spec,
// index)` returns.
template <class Right>
Verdict ask(const Oracle& oracle, const Plan& plan, Right right) {
  std::vector<Observation> seen;
  for (const auto& wanted : oracle.expand(plan, unordered_spec())) {
    EXPECT_TRUE(wanted.reference) << oracle.name();
    seen.push_back(trial_result(right(wanted, seen.size())));
  }
  EXPECT_FALSE(seen.empty()) << oracle.name();
  return oracle.judge(plan, unordered_spec(), seen);
}

Plan gated() {
  Plan plan = plan_of_calls({64});
  plan.mode.launch = Launch::gated;
  return plan;
}

TEST(Nondeterministic, TheRelaxedTrialOfTheScreenMeetsTheReference) {
  const auto screen = [](bool a, bool b) {
    const Observation both[] = {trial_result(a), trial_result(b)};
    return ScreenOracle().judge(gated(), unordered_spec(), both);
  };
  for (const auto& wanted : ScreenOracle().expand(gated(), unordered_spec()))
    EXPECT_TRUE(wanted.reference);
  EXPECT_EQ(screen(true, true).outcome, Outcome::pass);
  EXPECT_EQ(screen(false, true).signature.kind, FailKind::reference);
  EXPECT_EQ(screen(true, false).signature.kind, FailKind::reference);
}

TEST(Nondeterministic, ADeterministicTargetsRelaxedTrialNeedsNoReference) {
  TargetSpec s = unordered_spec();
  s.deterministic = true;
  const auto trials = ScreenOracle().expand(gated(), s);
  EXPECT_FALSE(trials[0].reference);
  EXPECT_TRUE(trials[1].reference);
}

TEST(Nondeterministic, WhatFailsOnlyWhereLaunchesAreNotWaitedForIsAsync) {
  const auto relaxed_is_wrong = [](const TrialSpec& t, std::size_t) {
    return t.mode.launch == Launch::blocking;
  };
  const Verdict v = ask(AsyncOracle(), gated(), relaxed_is_wrong);
  EXPECT_EQ(v.signature, (Signature{FailKind::async, "t", "", "y", "", ""}));
  EXPECT_EQ(v.call, 0);
  const auto all = [](bool right) { return [=](const TrialSpec&, std::size_t) { return right; }; };
  EXPECT_EQ(ask(AsyncOracle(), gated(), all(true)).outcome, Outcome::pass);
  EXPECT_EQ(ask(AsyncOracle(), gated(), all(false)).outcome, Outcome::pass) << "wrong either way";
}

TEST(Nondeterministic, EachAxisIsNamedByTheTrialThatIsWrong) {
  const Plan plan = gated();
  const auto poison = [&](const TrialSpec& t, std::size_t) {
    return t.mode.poison == plan.mode.poison;
  };
  EXPECT_EQ(ask(testing::along("poison"), plan, poison).signature.kind, FailKind::uninitialized);
  const auto place = [&](const TrialSpec& t, std::size_t) {
    return t.mode.placement == plan.mode.placement;
  };
  EXPECT_EQ(ask(testing::along("placement"), plan, place).signature.kind, FailKind::placement);
  const auto fourth = [](const TrialSpec&, std::size_t i) { return i != 3; };
  EXPECT_EQ(ask(RepetitionOracle(), plan, fourth).signature.kind, FailKind::nondeterministic);
}

TEST(Nondeterministic, WithoutAReferenceNothingCanBeCompared) {
  EXPECT_TRUE(AsyncOracle().expand(gated(), unordered_spec(false)).empty());
  EXPECT_EQ(AsyncOracle().judge(gated(), unordered_spec(false), {}).outcome,
            Outcome::not_applicable);
}

TEST(Nondeterministic, ATrialThatComparedNothingIsNotJudged) {
  std::vector<Observation> seen;
  for (std::size_t i = 0; i < AsyncOracle().expand(gated(), unordered_spec()).size(); ++i)
    seen.push_back(trial_result(true));
  seen[2].calls[0].comparison = Comparison::too_large;
  seen[2].calls[0].references.clear();
  const Verdict v = AsyncOracle().judge(gated(), unordered_spec(), seen);
  EXPECT_EQ(v.outcome, Outcome::not_applicable);
}

}  // namespace
}  // namespace redzone::oracles

#include "oracles/reference.h"

#include <gtest/gtest.h>

#include "oracles/checks.h"
#include "oracles/dry_screen.h"
#include "oracles/observations.h"
#include "oracles/sanitizer.h"
#include "oracles/screen.h"

namespace redzone::oracles {
namespace {

using testing::completed;
using testing::ended;
using testing::plan_of_calls;

TargetSpec referenced_spec(bool has_reference = true) {
  TargetSpec s;
  s.name = "t";
  s.has_reference = has_reference;
  return s;
}

// A completed trial with `calls` calls, of which those in `which` were compared and are right.
Observation compared(std::size_t calls, std::initializer_list<std::size_t> which,
                     Comparison others = Comparison::left_out) {
  Observation o = completed(std::vector<std::uint64_t>(calls, 5));
  for (auto& call : o.calls) call.comparison = others;
  for (const auto i : which) {
    o.calls[i].comparison = Comparison::compared;
    o.calls[i].references = {{.tensor = "y", .numel = 1}};
  }
  return o;
}

Verdict reference(const Plan& plan, const Observation& o, const TargetSpec& s = referenced_spec()) {
  return ReferenceOracle().judge(plan, s, std::span(&o, 1));
}

TEST(ReferenceOracle, APassSaysHowManyCallsWereCompared) {
  const Verdict v = reference(plan_of_calls({1, 2, 3}), compared(3, {0, 2}));
  EXPECT_EQ(v.outcome, Outcome::pass);
  EXPECT_EQ(v.reference, (ReferenceCount{2, 3}));
}

TEST(ReferenceOracle, ASampleCountsAndIsNamed) {
  const Plan plan = plan_of_calls({1, 2, 3});
  Observation o = compared(3, {0, 2}, Comparison::sampled);
  o.calls[1].references = {{.tensor = "y", .numel = 64, .of = 1000}};
  const Verdict right = reference(plan, o);
  EXPECT_EQ(right.outcome, Outcome::pass);
  EXPECT_EQ(right.reference, (ReferenceCount{3, 3, 1}));
  ReferenceObservation& y = o.calls[1].references[0];
  y.mismatches = 2;
  y.first_index = 977;
  y.got = 1;
  const Verdict wrong = reference(plan, o);
  EXPECT_EQ(wrong.outcome, Outcome::fail);
  EXPECT_EQ(wrong.signature.kind, FailKind::reference);
  EXPECT_EQ(wrong.call, 1);
  EXPECT_NE(wrong.reason.find("2 of 64 elements in a sample of 1000 are beyond the tolerance; "
                              "element 977 is 1, expected 0"),
            std::string::npos)
      << wrong.reason;
  EXPECT_EQ(why_not_compared(plan, o), "call 2 (N = 2) was compared in a sample of its rows");
}

TEST(ReferenceOracle, WhereNothingWasComparedNothingIsJudged) {
  const Plan plan = plan_of_calls({64, 64});
  const Verdict large = reference(plan, compared(2, {}, Comparison::too_large));
  EXPECT_EQ(large.outcome, Outcome::not_applicable);
  EXPECT_EQ(large.reason, "not judged by the reference: call 1 (N = 64) is too large for it");
  EXPECT_EQ(large.reference, (ReferenceCount{0, 2}));
  const Verdict left_out = reference(plan, compared(2, {}, Comparison::left_out));
  EXPECT_EQ(left_out.outcome, Outcome::not_applicable);
  EXPECT_NE(left_out.reason.find("left out for lack of time"), std::string::npos);
  EXPECT_NE(reference(plan, compared(2, {}, Comparison::none)).outcome, Outcome::pass);
}

// An output without elements cannot be wrong, and its call does not count as compared.
TEST(ReferenceOracle, CallsWithoutAnElementOfAnOutputDoNotCount) {
  const Plan plan = plan_of_calls({1, 2, 3});
  const Verdict some = reference(plan, compared(3, {1}, Comparison::empty));
  EXPECT_EQ(some.outcome, Outcome::pass);
  EXPECT_EQ(some.reference, (ReferenceCount{1, 1}));
  const Verdict none = reference(plan, compared(3, {}, Comparison::empty));
  EXPECT_EQ(none.outcome, Outcome::not_applicable);
  EXPECT_EQ(none.reason, "not judged by the reference: all outputs of all calls are empty");
  EXPECT_EQ(none.reference, ReferenceCount{});
}

TEST(ReferenceOracle, AMismatchIsAFailureWhateverWasLeftOut) {
  auto o = compared(3, {1});
  o.calls[1].references[0].mismatches = 1;
  const Verdict v = reference(plan_of_calls({1, 2, 3}), o);
  EXPECT_TRUE(v.failed());
  EXPECT_EQ(v.call, 1);
  EXPECT_EQ(v.reference, (ReferenceCount{1, 3}));
}

TEST(ReferenceOracle, ATrialThatDidNotCompleteIsNoPass) {
  auto o = compared(2, {0});
  o.end = End::hang;
  EXPECT_EQ(reference(plan_of_calls({1, 2}), o).outcome, Outcome::inconclusive);
}

TEST(Screen, CountsTheCallsThatWereCompared) {
  const Plan plan = plan_of_calls({1, 2});
  const auto screen = [&](const TargetSpec& s, const Observation& b) {
    const Observation both[] = {compared(2, {}, Comparison::none), b};
    return ScreenOracle().judge(plan, s, both);
  };
  EXPECT_EQ(screen(referenced_spec(), compared(2, {1})).reference, (ReferenceCount{1, 2}));
  EXPECT_EQ(screen(referenced_spec(), compared(2, {1})).outcome, Outcome::pass);
  const Verdict none = screen(referenced_spec(), compared(2, {}, Comparison::left_out));
  EXPECT_EQ(none.outcome, Outcome::pass);  // the digests agree
  EXPECT_EQ(none.reference, (ReferenceCount{0, 2}));
}

TEST(Screen, CountsNoCallsOfATargetWithoutAReference) {
  const Observation both[] = {compared(2, {}, Comparison::none), compared(2, {}, Comparison::none)};
  EXPECT_EQ(ScreenOracle().judge(plan_of_calls({1, 2}), referenced_spec(false), both).reference,
            ReferenceCount{});
}

TEST(Screen, CountsTheCallsOfAPlanWhoseSecondTrialWasNotRun) {
  const Observation lost = ended(End::hang);
  const Verdict v =
      ScreenOracle().judge(plan_of_calls({1, 2}), referenced_spec(), std::span(&lost, 1));
  EXPECT_EQ(v.reference, (ReferenceCount{0, 2}));
}

TEST(Screen, UnderAToolCountsTheCallsThatItsOwnTrialsCompared) {
  const ScreenOracle native;
  const SanitizerOracle tool(SanitizerTool::memcheck);
  const SanitizedScreen screen(native, tool);
  Observation sanitized = completed({5, 5});
  sanitized.sanitizer = SanitizerReport{};
  sanitized.sanitizer->tool = SanitizerTool::memcheck;
  const Observation all[] = {compared(2, {}, Comparison::none), compared(2, {1}), sanitized};
  const Verdict v = screen.judge(plan_of_calls({1, 2}), referenced_spec(), all);
  EXPECT_EQ(v.outcome, Outcome::pass) << v.reason;
  EXPECT_EQ(v.reference, (ReferenceCount{1, 2}));
  EXPECT_EQ(screen.judge(plan_of_calls({1, 2}), referenced_spec(), std::span(all, 2)).reference,
            (ReferenceCount{1, 2}));
}

TEST(DryScreen, ComparesNothingOfATargetWithAReference) {
  const Observation o = completed({5, 5});
  const auto count = [&](bool has_reference) {
    return DryScreenOracle()
        .judge(plan_of_calls({1, 2}), referenced_spec(has_reference), std::span(&o, 1))
        .reference;
  };
  EXPECT_EQ(count(true), (ReferenceCount{0, 2}));
  EXPECT_EQ(count(false), ReferenceCount{});
}

// Outputs are judged by the reference, by the digests of two trials, or by nothing.
TEST(JudgedOutputs, CountsWhatJudgedThem) {
  const auto judged = [](const TargetSpec& s, const std::vector<Observation>& o) {
    return judged_outputs(s, o);
  };
  const auto why = [](const TargetSpec& s, const std::vector<Observation>& o) {
    return why_outputs_not_judged(s, o);
  };
  const std::vector<Observation> two{compared(3, {}, Comparison::none), compared(3, {1})};
  EXPECT_EQ(judged(referenced_spec(), two), (OutputCount{2, 0}));
  TargetSpec random = referenced_spec(false);
  random.deterministic = false;
  EXPECT_EQ(judged(random, two), (OutputCount{0, 2}));
  EXPECT_EQ(why(random, two), "it is declared nondeterministic and has no reference");
  random.has_reference = true;
  EXPECT_EQ(why(random, two),
            "it is declared nondeterministic, and no call was compared with its reference");
  std::vector<Observation> empty = two;
  for (auto& o : empty)
    for (auto& call : o.calls)
      for (auto& b : call.buffers) b.numel = 0, call.comparison = Comparison::empty;
  EXPECT_EQ(judged(referenced_spec(), empty), (OutputCount{0, 3}));
  TargetSpec spec = referenced_spec();
  EXPECT_EQ(why(spec, empty), "its spec declares no output");
  spec.tensors = {TensorSpec::of("y", DType::f32, Role::out, shape_of({}))};
  EXPECT_EQ(why(spec, empty), "all outputs of all calls are empty");
  EXPECT_EQ(judged(random, {two[0], ended(End::hang)}), OutputCount{});
}

TEST(WhyNotCompared, NamesTheFirstCallOfTheTrialThatCompares) {
  const Plan plan = plan_of_calls({1, 64});
  const auto trials = ScreenOracle().expand(plan, referenced_spec());
  const Observation native = compared(2, {}, Comparison::none);
  const auto why = [&](const std::vector<Observation>& observations) {
    return why_not_compared(plan, trials, observations);
  };
  EXPECT_EQ(why({native, compared(2, {0}, Comparison::too_large)}),
            "call 2 (N = 64) is too large for it");
  EXPECT_EQ(why({native, ended(End::hang)}), "the trial did not complete");
  EXPECT_EQ(why({ended(End::hang)}), "a trial before the one that compares was lost");
  const auto dry = DryScreenOracle().expand(plan, referenced_spec());
  EXPECT_EQ(why_not_compared(plan, dry, std::span(&native, 1)), "no kernel ran");
}

}  // namespace
}  // namespace redzone::oracles

// The exit code of a night.
#include "nightly/exit_code.h"

#include <gtest/gtest.h>

namespace redzone::nightly {
namespace {

using report::Night;

report::NightFinding replayed_finding(ReplayOutcome outcome, std::int64_t n = 0) {
  report::NightFinding f;
  f.outcome = outcome;
  f.n = n;
  return f;
}

report::NightTarget fuzzed(std::uint64_t pass, std::uint64_t harness_errors = 0) {
  report::NightTarget t;
  t.plans = pass + harness_errors;
  t.pass = pass;
  t.harness_errors = harness_errors;
  return t;
}

TEST(NightExitCode, NothingJudgedIsFour) {
  Night n;
  n.targets.resize(1);
  n.targets[0].plans = n.targets[0].not_applicable = 7;
  EXPECT_EQ(night_exit_code(n, false), 4);
  n.findings = {replayed_finding(ReplayOutcome::unclear)};  // no run of the replay could be judged
  n.corpus.resize(1);
  n.corpus[0].outcome = ReplayOutcome::not_applicable;
  EXPECT_EQ(night_exit_code(n, false), 4);
  n.findings.clear();
  n.corpus[0].outcome = ReplayOutcome::passes;
  n.corpus[0].n = 4;
  EXPECT_EQ(night_exit_code(n, false), 0) << "a plan of the corpus was judged";
  n.corpus.clear();
  EXPECT_EQ(night_exit_code(n, false), 4);
  n.targets.push_back(fuzzed(1));
  EXPECT_EQ(night_exit_code(n, false), 0) << "a target does not apply here, and another was judged";
}

// The same ranking as for targets: harness error, not judged, pass.
TEST(NightExitCode, ReplaysRankWithTargets) {
  Night n;
  n.targets = {fuzzed(10)};
  n.targets[0].name = "t";
  n.findings = {replayed_finding(ReplayOutcome::unclear)};
  EXPECT_EQ(night_exit_code(n, false), 4) << "no run of a known finding could be judged";
  n.findings = {replayed_finding(ReplayOutcome::unclear, 60)};
  EXPECT_EQ(night_exit_code(n, false), 0) << "it is rare, and several nights add up";
  n.findings = {replayed_finding(ReplayOutcome::not_applicable),
                replayed_finding(ReplayOutcome::not_run)};
  EXPECT_EQ(night_exit_code(n, false), 0) << "of another device, or another night's turn";
  n.corpus.resize(1);
  n.corpus[0].target = "t";
  for (const auto outcome :
       {ReplayOutcome::not_applicable, ReplayOutcome::not_run, ReplayOutcome::unclear}) {
    n.corpus[0].outcome = outcome;
    EXPECT_EQ(night_exit_code(n, false), 4) << name_of(outcome);
    n.corpus[0].target = "unselected";
    EXPECT_EQ(night_exit_code(n, false), 0) << name_of(outcome);
    n.corpus[0].target = "t";
  }
  n.corpus[0].waived = true;
  n.corpus[0].outcome = ReplayOutcome::not_run;
  EXPECT_EQ(night_exit_code(n, false), 0) << "quarantined";
  n.corpus[0].waived = false;
  n.corpus[0].outcome = ReplayOutcome::harness_error;
  EXPECT_EQ(night_exit_code(n, false), 3);
}

TEST(NightExitCode, ATargetThatHadNoTurnIsFour) {
  Night n;
  n.targets = {fuzzed(10)};
  n.targets.emplace_back().no_time = true;
  n.findings = {replayed_finding(ReplayOutcome::passes, 4)};
  EXPECT_EQ(night_exit_code(n, false), 4);
  n.targets.front() = fuzzed(0, 1);
  EXPECT_EQ(night_exit_code(n, false), 3) << "which is worse";
  n.targets.front() = fuzzed(10);
  n.targets.back().no_time = false;
  EXPECT_EQ(night_exit_code(n, false), 0) << "it was not to be fuzzed";
}

// `run` exits with 1 for such a failure, too.
TEST(NightExitCode, AFailureThatThereWasNoTimeToConfirmIsOne) {
  Night n;
  n.targets = {fuzzed(0)};
  n.targets[0].plans = n.targets[0].fail = 4;
  n.findings = {replayed_finding(ReplayOutcome::seen)};
  EXPECT_EQ(night_exit_code(n, false), 1);
  n.findings[0].ledger.standing = Standing::known;
  EXPECT_EQ(night_exit_code(n, false), 0);
  n.findings[0].ledger.standing = Standing::fresh;
  n.findings[0].outcome = ReplayOutcome::gone;
  EXPECT_EQ(night_exit_code(n, false), 0) << "it was run again, and did not recur";
}

TEST(NightExitCode, APlanOfTheCorpusThatFailsIsOne) {
  Night n;
  n.targets = {fuzzed(10)};
  n.corpus.resize(1);
  n.corpus[0].outcome = ReplayOutcome::fails;
  n.corpus[0].k = n.corpus[0].n = 1;
  EXPECT_EQ(night_exit_code(n, true), 1);
  n.corpus[0].waived = true;
  EXPECT_EQ(night_exit_code(n, false), 0);
}

// From the worst result on: the worst result decides, whatever the others are.
TEST(NightExitCode, FollowsTheRankingOfRuns) {
  Night n;
  n.targets = {fuzzed(10)};
  EXPECT_EQ(night_exit_code(n, false), 0);
  EXPECT_EQ(night_exit_code(n, true), 2) << "a file of the corpus was not run";
  n.findings = {replayed_finding(ReplayOutcome::harness_error)};
  EXPECT_EQ(night_exit_code(n, true), 3) << "nothing is said of a finding that is known";
  n.findings.clear();
  n.problem = "the device no longer answers";
  EXPECT_EQ(night_exit_code(n, true), 3);
  n.findings = {replayed_finding(ReplayOutcome::fails, 4)};
  EXPECT_EQ(night_exit_code(n, true), 1) << "a failure is what people must look at";
  n.findings[0].ledger.standing = Standing::known;
  EXPECT_EQ(night_exit_code(n, true), 3) << "but not one that is waived";
}

// The author must correct it, however few plans meet it.
TEST(NightExitCode, AMistakeInASpecIsNotOutvoted) {
  Night n;
  n.targets.resize(1);
  n.targets[0].plans = 1001;
  n.targets[0].pass = 1000;
  n.targets[0].harness_errors = 1;
  EXPECT_EQ(night_exit_code(n, false), 0);
  n.targets[0].spec_error = "target 't': the work function threw";
  EXPECT_EQ(night_exit_code(n, false), 2);
  n.findings = {replayed_finding(ReplayOutcome::fails, 4)};
  EXPECT_EQ(night_exit_code(n, false), 1);
}

TEST(NightExitCode, AFewPlansThatTheHarnessLostAreOutvoted) {
  Night n;
  n.targets = {fuzzed(10, 9)};
  EXPECT_EQ(night_exit_code(n, false), 0);
  n.targets = {fuzzed(10, 10)};
  EXPECT_EQ(night_exit_code(n, false), 3);
  n.findings = {replayed_finding(ReplayOutcome::passes, 4)};
  EXPECT_EQ(night_exit_code(n, false), 3) << "what was replayed says nothing of what was fuzzed";
  n.targets.push_back(fuzzed(1000));
  EXPECT_EQ(night_exit_code(n, false), 3) << "nor does another target";
}

}  // namespace
}  // namespace redzone::nightly

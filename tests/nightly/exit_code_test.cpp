// How a night ends.
#include "nightly/exit_code.h"

#include <gtest/gtest.h>

namespace redzone::nightly {
namespace {

using report::Night;

report::NightFinding replayed(Tonight tonight, std::int64_t n = 0) {
  report::NightFinding f;
  f.tonight = tonight;
  f.n = n;
  return f;
}

TEST(NightExitCode, NothingJudgedIsFour) {
  Night n;
  n.not_applicable = 7;
  n.reference = {0, 20};
  EXPECT_EQ(night_exit_code(n, false), 4);
  n.findings = {replayed(Tonight::unclear)};  // no run of it could be judged
  n.corpus.resize(1);
  n.corpus[0].tonight = Tonight::not_applicable;
  EXPECT_EQ(night_exit_code(n, false), 4);
  n.corpus[0].n = 4;
  EXPECT_EQ(night_exit_code(n, false), 0) << "a plan of the corpus was judged";
  n.corpus[0].n = 0;
  n.pass = 1;
  EXPECT_EQ(night_exit_code(n, false), 0) << "by another oracle than the reference";
}

// From the worst on: what is worse decides, whatever else there was.
TEST(NightExitCode, FollowsTheRankingOfRuns) {
  Night n;
  n.pass = 10;
  EXPECT_EQ(night_exit_code(n, false), 0);
  EXPECT_EQ(night_exit_code(n, true), 2) << "a file of the corpus was not run";
  n.findings = {replayed(Tonight::harness_error)};
  EXPECT_EQ(night_exit_code(n, true), 3) << "nothing is said of a finding that is known";
  n.findings.clear();
  n.problem = "the device no longer answers";
  EXPECT_EQ(night_exit_code(n, true), 3);
  n.findings = {replayed(Tonight::fails, 4)};
  EXPECT_EQ(night_exit_code(n, true), 1) << "a failure is what people must look at";
  n.findings[0].ledger.standing = Standing::known;
  EXPECT_EQ(night_exit_code(n, true), 3) << "but not one that is waived";
}

TEST(NightExitCode, AFewPlansThatTheHarnessLostAreOutvoted) {
  Night n;
  n.pass = 10;
  n.harness_errors = 9;
  EXPECT_EQ(night_exit_code(n, false), 0);
  n.harness_errors = 10;
  EXPECT_EQ(night_exit_code(n, false), 3);
  n.findings = {replayed(Tonight::passes, 4)};
  EXPECT_EQ(night_exit_code(n, false), 0) << "a finding that was replayed counts like a plan";
}

}  // namespace
}  // namespace redzone::nightly

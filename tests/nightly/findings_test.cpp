// The result of a night for each finding: new, still failing, fixed, regressed, failing otherwise,
// not judged.
#include "campaign/recheck.h"
#include "core/exit_code.h"
#include "nightly/fixture.h"

namespace redzone::nightly {
namespace {

using namespace testing;

class NightFindings : public NightTest {
 protected:
  const Observation kReadsBehindX = faulted(fault_at(0, "x", Access::read, Side::after));
  const Observation kWritesBehindY = faulted(fault_at(0, "y", Access::write, Side::after));

  // Runs a night that finds a bug of calls above 64. Later nights fuzz only smaller calls.
  std::int64_t find() {
    bug_ = above(64, kReadsBehindX);
    first_size_ = 55;
    const Told told = night();
    EXPECT_EQ(told.night.findings.size(), 1u);
    first_size_ = 0;
    return told.night.findings.empty() ? 0 : told.night.findings[0].id;
  }
  // Stores the same bug as an earlier night has found it.
  void record(FindingState state, Reliability reliability, Environment environment) {
    store::Store s = store();
    Finding f = sample_finding();
    f.signature = {FailKind::illegal_access, "t", "k", "x", "after", "read"};
    f.state = state;
    f.oracle = "fault";
    f.plan = f.original = plain_plan({call_of(128, 16)});
    f.reliability = reliability;
    f.environment = std::move(environment);
    must(s.record(f));
  }
};

TEST_F(NightFindings, ANewOneIsFoundAndAnAlarm) {
  bug_ = above(64, kReadsBehindX);
  first_size_ = 55;
  const Told told = night();
  EXPECT_EQ(told.code, kFound) << told.error;
  ASSERT_EQ(told.night.findings.size(), 1u);
  const NightFinding& f = told.night.findings[0];
  EXPECT_EQ(f.signature, "illegal-access: read after x in k (t)");
  EXPECT_EQ(f.outcome, ReplayOutcome::found);
  EXPECT_EQ(f.ledger.standing, Standing::fresh);
  EXPECT_EQ(f.before, std::nullopt) << "it was not there before";
  EXPECT_EQ(f.confidence, "confirmed");
  EXPECT_EQ(f.occurrences, 11) << "sizes 65 to 75";
  EXPECT_TRUE(is_alarm(f));
  EXPECT_EQ(told.night.exit_code, kFound);
  EXPECT_EQ(told.night.problem, "");
  EXPECT_EQ(told.night.planted_bugs_caught, 18u);
  EXPECT_EQ(told.night.self_proof_seconds, 3);
  EXPECT_EQ(told.night.plans, 20u);
  EXPECT_EQ(told.night.pass, 9u);
  EXPECT_EQ(told.night.fail, 11u);
  ASSERT_EQ(told.night.targets.size(), 1u);
  EXPECT_EQ(told.night.targets[0].plans, 20u);
  EXPECT_EQ(told.night.targets[0].findings, (report::StandingCounts{{Standing::fresh, 1}}));
  ASSERT_EQ(told.night.trend.size(), 1u);
  EXPECT_EQ(told.night.trend[0].exit_code, kFound);
  EXPECT_TRUE(told.night.not_judged.empty()) << told.night.not_judged[0].what;
  EXPECT_EQ(last_run().exit_code, kFound) << "the night is closed";
  store::Store s = store();
  EXPECT_NE(must(s.campaign(told.night.campaign)).ended, "");
}

TEST_F(NightFindings, WhatFailsAsBeforeIsAnAlarmUntilItIsWaived) {
  const auto id = find();
  const Told unmarked = night();
  EXPECT_EQ(unmarked.code, kFound);
  ASSERT_NE(unmarked.of("x"), nullptr);
  EXPECT_EQ(unmarked.of("x")->outcome, ReplayOutcome::fails);
  EXPECT_EQ(unmarked.of("x")->k, 4);
  EXPECT_EQ(unmarked.of("x")->n, 4);
  EXPECT_EQ(unmarked.of("x")->before, Standing::fresh);
  mark(id, LedgerEvent::known);
  const Told waived = night();
  EXPECT_EQ(waived.code, kOk);
  EXPECT_EQ(waived.of("x")->outcome, ReplayOutcome::fails);
  EXPECT_EQ(waived.of("x")->ledger.standing, Standing::known);
  EXPECT_EQ(replays(waived.night.campaign).size(), 1u);
  EXPECT_EQ(waived.night.trend.size(), 3u);
}

TEST_F(NightFindings, WhatPassesOftenEnoughIsFixedAndRegressedWhenItFailsAgain) {
  find();
  bug_ = kNoBug;
  code_ = "second build";
  const Told fixed = night();
  EXPECT_EQ(fixed.code, kOk);
  EXPECT_EQ(fixed.of("x")->outcome, ReplayOutcome::passes);
  EXPECT_EQ(fixed.of("x")->k, 0);
  EXPECT_EQ(fixed.of("x")->n, 4);
  EXPECT_EQ(fixed.of("x")->outcome_reason, "");
  EXPECT_EQ(fixed.of("x")->ledger.standing, Standing::fixed);
  bug_ = above(64, kReadsBehindX);
  const Told back = night();
  EXPECT_EQ(back.code, kFound);
  EXPECT_EQ(back.of("x")->outcome, ReplayOutcome::fails);
  EXPECT_EQ(back.of("x")->before, Standing::fixed);
  EXPECT_EQ(back.of("x")->ledger.standing, Standing::regressed);
}

// It was run as often as confirmation requires: `run` exits with 0 for it, too.
TEST_F(NightFindings, WhatFailedOnceAndNeverAgainIsNamedAndNoAlarm) {
  int faults = 0;
  bug_ = [&](const Plan& plan, const TrialSpec& trial, const std::vector<Call>& before) {
    Observation o = above(64, kReadsBehindX)(plan, trial, before);
    return o.fault && ++faults > 1 ? all_right(plan, trial) : o;
  };
  first_size_ = 55;
  const Told told = night();
  ASSERT_EQ(told.night.findings.size(), 1u);
  EXPECT_EQ(told.night.findings[0].confidence, "unconfirmed");
  EXPECT_EQ(told.night.findings[0].outcome, ReplayOutcome::gone);
  EXPECT_EQ(told.code, kOk);
}

// Its seeds drew other data there, so that the plan may no longer be the one that failed.
TEST_F(NightFindings, APassWithOtherDataFixesNothing) {
  Environment old;
  old.redzone_version = "0.1.0";
  record(FindingState::confirmed, {10, 10}, old);
  const Told told = night();
  ASSERT_NE(told.of("x"), nullptr);
  EXPECT_EQ(told.of("x")->outcome, ReplayOutcome::unclear);
  EXPECT_EQ(told.of("x")->ledger.standing, Standing::fresh);
  EXPECT_EQ(told.of("x")->outcome_reason,
            "it passes here; it was recorded by Redzone 0.1.0, where the seeds of the plan drew "
            "other data");
  bug_ = above(64, kReadsBehindX);
  EXPECT_EQ(night().of("x")->outcome, ReplayOutcome::fails);
}

TEST_F(NightFindings, APassOfTheSameCodeSaysSo) {
  find();
  bug_ = kNoBug;
  EXPECT_EQ(night().of("x")->outcome_reason, "the code that ran is the same as when it failed");
}

// A failure of one run in many needs the passes of several nights.
TEST_F(NightFindings, ARareOneIsFixedAfterEnoughPassesOfSeveralNights) {
  const Reliability rare{2, 40};
  record(FindingState::flaky, rare, {});
  const std::int64_t needed = campaign::passes_needed(rare);
  ASSERT_GT(needed, 120) << "three nights";
  std::int64_t passed = 0;
  for (int n = 1;; ++n) {
    // A night in which it fails in another way adds nothing to the count of passes.
    bug_ = n == 2 ? above(64, kWritesBehindY) : kNoBug;
    const Told told = night();
    ASSERT_NE(told.of("x"), nullptr);
    if (n == 2) {
      EXPECT_EQ(told.of("x")->outcome, ReplayOutcome::otherwise);
      continue;
    }
    passed += told.of("x")->n;
    if (told.of("x")->outcome == ReplayOutcome::passes) break;
    ASSERT_EQ(told.of("x")->outcome, ReplayOutcome::unclear) << told.of("x")->outcome_reason;
    EXPECT_EQ(told.of("x")->ledger.standing, Standing::fresh);
    EXPECT_NE(told.gap("finding 1").find("are needed to call it fixed"), std::string::npos);
    ASSERT_LT(passed, needed);
  }
  EXPECT_EQ(passed, needed) << "no run of the second night counts";
}

TEST_F(NightFindings, WhatFailsOtherwiseIsAnAlarmOfItsOwn) {
  const auto id = find();
  mark(id, LedgerEvent::known);
  bug_ = above(64, kWritesBehindY);
  const Told told = night();
  EXPECT_EQ(told.code, kFound) << "the waiver is of the other one";
  ASSERT_EQ(told.night.findings.size(), 2u);
  const NightFinding* old = told.of("x");
  EXPECT_EQ(old->outcome, ReplayOutcome::otherwise);
  EXPECT_EQ(old->ledger.standing, Standing::known);
  EXPECT_EQ(old->outcome_reason, "it fails in another way: illegal-access: write after y in k (t)");
  const NightFinding* other = told.of("y");
  ASSERT_NE(other, nullptr);
  EXPECT_EQ(other->outcome, ReplayOutcome::found);
  EXPECT_EQ(other->confidence, "confirmed");
  EXPECT_EQ(other->before, std::nullopt);
  EXPECT_TRUE(is_alarm(*other));
  EXPECT_EQ(told.night.fail, 0u) << "the replay alone saw it";
}

TEST_F(NightFindings, WhatTheTargetRefusesIsNotJudged) {
  find();
  bug_ = above(0, ended(End::unsupported, "no such device"));
  const Told told = night();
  EXPECT_EQ(told.code, kNotJudged);
  EXPECT_EQ(told.of("x")->outcome, ReplayOutcome::not_applicable);
  EXPECT_EQ(told.of("x")->ledger.standing, Standing::fresh);
  EXPECT_NE(told.gap("finding 1"), "");
  EXPECT_EQ(told.gap("target t"), "none of its plans could be judged");
  EXPECT_FALSE(is_alarm(*told.of("x"))) << "it does not fail tonight";
}

TEST_F(NightFindings, WhatIsNotHereIsNotJudged) {
  find();
  targets_ = {"another"};
  const Told gone = night();
  EXPECT_EQ(gone.code, kOk) << "the other target was fuzzed";
  EXPECT_EQ(gone.of("x")->outcome, ReplayOutcome::not_applicable);
  EXPECT_NE(gone.gap("finding 1").find("t"), std::string::npos);
  targets_ = {"t"};
  device_ = "dry-run";
  const Told elsewhere = night();
  EXPECT_EQ(elsewhere.of("x")->outcome, ReplayOutcome::not_applicable);
  EXPECT_EQ(elsewhere.gap("finding 1"), "it was seen on host, and this is dry-run");
}

TEST_F(NightFindings, WhatIsQuarantinedIsNotLaunched) {
  const auto id = find();
  targets_ = {"another", "t"};
  mark(id, LedgerEvent::quarantined);
  bool launched = false;
  bug_ = [&](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
    launched = launched || plan.target == "t";
    return all_right(plan, trial);
  };
  const Told told = night();
  EXPECT_FALSE(launched);
  EXPECT_EQ(told.code, kOk);
  EXPECT_EQ(told.of("x")->outcome, ReplayOutcome::not_run);
  EXPECT_EQ(told.gap("target t"), "finding 1 is quarantined: https://example.com/1");
}

// A user may quarantine it while the night runs; the night notices within seconds.
TEST_F(NightFindings, AQuarantineHoldsFromWhenItIsSaid) {
  const auto id = find();
  options_.plans = 0;
  options_.time = std::chrono::seconds(60);
  bool said = false;
  std::uint64_t after = 0;
  during_ = [&] {
    if (said) ++after;
    if (said || trials_ < 100) return;
    said = true;
    mark(id, LedgerEvent::quarantined);
  };
  const Told told = night();
  ASSERT_TRUE(said);
  EXPECT_LT(after * kTrial.count(), 4000u) << "of 60 s";
  EXPECT_NE(told.gap("target t").find("quarantined"), std::string::npos);
}

TEST_F(NightFindings, WhatTheHarnessCannotRunIsAHarnessErrorWhateverElsePasses) {
  const auto id = find();
  bug_ = above(64, ended(End::worker_error, "the worker was lost"));
  const Told told = night();
  EXPECT_EQ(told.of("x")->outcome, ReplayOutcome::harness_error);
  EXPECT_EQ(told.of("x")->ledger.standing, Standing::fresh);
  EXPECT_EQ(told.night.pass, 20u);
  EXPECT_EQ(told.gap(fmt::format("finding {}", id)), "the worker was lost");
  EXPECT_EQ(told.code, kHarness);
}

}  // namespace
}  // namespace redzone::nightly

// A target with one bug, made by hand, and its suspect's way through triage.
#pragma once

#include <gtest/gtest.h>

#include "campaign/fakes.h"
#include "campaign/triage.h"

namespace redzone::campaign::testing {

inline TriageOptions patient() {
  TriageOptions options;
  options.reduce_time = std::chrono::hours(1);
  return options;
}

// A target with one bug; its suspect goes through triage.
class TriageCase {
 public:
  explicit TriageCase(Bug bug, TriageOptions options = patient())
      : executor(std::move(bug), &journal), options_(std::move(options)) {
    spec_.has_reference = true;
  }

  // Runs the plan in the warm worker beforehand.
  void run_before(const Plan& plan) {
    executor.submit({7, plan, catalog_.screen().expand(plan, spec_), options_.deadline});
    executor.next({});
  }

  Triage::Settled settle(const Plan& plan) {
    Suspect suspect{plan, {}, catalog_.screen().expand(plan, spec_), nullptr, 0};
    executor.submit({8, plan, suspect.trials, options_.deadline});
    auto result = executor.next({});
    suspect.verdict = catalog_.screen().judge(plan, spec_, result->observations);
    suspect.log = result->log;
    suspect.log_size = result->log_size;
    EXPECT_TRUE(suspect.verdict.failed()) << "the screen sees nothing";
    Finding finding;
    finding.signature = suspect.verdict.signature;
    finding.oracle = suspect.verdict.oracle;
    finding.plan = finding.original = plan;
    finding.id = sink.record(finding)->id;
    journal.clear();
    Triage triage(executor, catalog_, real_simplify(), sink, options_);
    auto settled = triage.run(finding, suspect, spec_);
    EXPECT_TRUE(settled) << settled.error().message;
    return *settled;
  }

  Journal journal;
  FakeExecutor executor;
  RecordingSink sink{&journal};

 private:
  TargetSpec spec_ = small_spec();
  oracles::Catalog catalog_;
  TriageOptions options_;
};

inline const Plan& large() {
  static const Plan plan =
      busy_plan({call_of(10, 16), call_of(700, 64), call_of(64, 32), call_of(900, 16)});
  return plan;
}

}  // namespace redzone::campaign::testing

// Reduction where workers start slowly: in used workers, and in fresh ones only to find out whether
// calls can be left out that used ones need.
#include <gtest/gtest.h>

#include "campaign/triage_case.h"
#include "core/plan_text.h"

namespace redzone::campaign {
namespace {

using namespace testing;

TriageOptions with_slow_starts() {
  TriageOptions options = patient();
  options.reuse_workers = true;
  options.confirm_runs = 2;
  options.final_runs = 7;
  options.attribution_runs = 0;
  return options;
}

// The last call writes past `y` if its trial has as many calls as that; a worker that has run other
// trials may need another number.
Bug writes_in_the_last_call(std::size_t calls, std::size_t in_a_used_worker) {
  return [=](const Plan& plan, const TrialSpec& trial, const std::vector<Call>& before) {
    Observation o = all_right(plan, trial);
    if (o.calls.size() < (before.empty() ? calls : in_a_used_worker)) return o;
    o.calls.back().buffers.back().dirty_after = 4;
    return o;
  };
}

TEST(UsedWorkers, CallsThatOnlyAUsedWorkerNeedsAreLeftOut) {
  TriageCase c(writes_in_the_last_call(2, 3), with_slow_starts());
  const Finding f = c.settle(large()).finding;
  EXPECT_EQ(f.plan, plain_plan({call_of(1, 16), call_of(1, 16)})) << print_plan(f.plan);
  EXPECT_TRUE(f.minimal);
}

TEST(UsedWorkers, FreshOnesAreAskedAboutFewerCallsAlone) {
  TriageCase c(writes_in_the_last_call(2, 2), with_slow_starts());
  const Finding f = c.settle(large()).finding;
  EXPECT_EQ(f.plan, plain_plan({call_of(1, 16), call_of(1, 16)})) << print_plan(f.plan);
  EXPECT_TRUE(f.minimal);
  // Two that confirm, the plan without each of its calls, and two that measure.
  EXPECT_LE(c.executor.fresh_jobs(), 8u);
}

}  // namespace
}  // namespace redzone::campaign

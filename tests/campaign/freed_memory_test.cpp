// Writes to freed memory: what nothing orders behind its free is named by the two operations.
#include <gtest/gtest.h>

#include "campaign/triage_case.h"

namespace redzone::campaign {
namespace {

using namespace testing;

// Each call writes to 'staged' after its free, under a schedule other than the first or where that
// order is forced. `problem` is what a trial that records the order says of the two.
Bug writes_after_its_free(OrderProblem problem) {
  return [problem](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
    Observation o = all_right(plan, trial);
    const bool shows =
        trial.direction ? trial.direction->second_first : trial.mode.schedule_seed != 0;
    for (auto& call : o.calls)
      call.buffers.push_back(
          {.name = "staged", .scratch = true, .numel = 16, .changed = shows ? 1u : 0u});
    if (trial.records_order)
      o.order = OrderObservation{{{.problem = problem,
                                   .buffer = "staged",
                                   .buffer_call = 0,
                                   .first = {.number = 1, .name = "halve", .call = 0},
                                   .second = {.number = 2,
                                              .kind = OperationKind::free,
                                              .name = "free",
                                              .call = 0,
                                              .stream = 1,
                                              .side = true}}},
                                 trial.direction.has_value()};
    return o;
  };
}

Plan with_schedule(std::uint64_t seed) {
  Plan plan = plain_plan({call_of(64, 16)});
  plan.mode.launch = Launch::async;
  plan.mode.schedule_seed = seed;
  return plan;
}

TEST(FreedMemory, IsNamedByTheOrderThatNothingKeepsAndNeedsNoSchedule) {
  TriageCase c(writes_after_its_free(OrderProblem::unordered_free));
  const Finding f = c.settle(with_schedule(7)).finding;
  EXPECT_EQ(f.signature.text(), "order: staged in halve, free (t)");
  EXPECT_EQ(f.oracle, "order");
  EXPECT_EQ(f.plan.mode.schedule_seed, 0u);
  EXPECT_TRUE(f.minimal);
}

TEST(FreedMemory, KeepsItsNameWhereTheProgramOrdersTheUseBehindTheFree) {
  TriageCase c(writes_after_its_free(OrderProblem::freed_use));
  const Finding f = c.settle(with_schedule(7)).finding;
  EXPECT_EQ(f.signature.text(), "use-after-free: write inside staged (t)");
  EXPECT_EQ(f.plan.mode.schedule_seed, 7u);
}

}  // namespace
}  // namespace redzone::campaign

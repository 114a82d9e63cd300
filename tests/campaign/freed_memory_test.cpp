// Writes to freed memory, faults, and outputs, that an order decides about: what nothing orders is
// named by the two operations.
#include <gtest/gtest.h>

#include "campaign/triage_case.h"

namespace redzone::campaign {
namespace {

using namespace testing;

// Whether 'free' comes before 'halve': under a schedule other than the first, or by force.
bool in_wrong_order(const TrialSpec& trial) {
  if (trial.mode.launch == Launch::blocking) return false;
  return trial.direction ? trial.direction->second_first : trial.mode.schedule_seed != 0;
}

// What a trial that records the order says of the two.
OrderObservation says(OrderProblem problem, const TrialSpec& trial) {
  return {{{.problem = problem,
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
}

// Each call writes to 'staged' after its free.
Bug writes_after_its_free(OrderProblem problem) {
  return [problem](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
    Observation o = all_right(plan, trial);
    for (auto& call : o.calls)
      call.buffers.push_back({.name = "staged",
                              .scratch = true,
                              .numel = 16,
                              .changed = in_wrong_order(trial) ? 1u : 0u});
    if (trial.records_order) o.order = says(problem, trial);
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

// `ordered`: nothing but a schedule decides about the fault.
Bug faults_in_wrong_order(bool ordered) {
  return [ordered](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
    if (in_wrong_order(trial) && !(ordered && trial.direction))
      return redzone::testing::faulted(
          {.code = "CUDA_ERROR_ILLEGAL_ADDRESS", .call = 0, .kernel = "halve"});
    Observation o = all_right(plan, trial);
    if (trial.records_order) o.order = says(OrderProblem::unordered_free, trial);
    return o;
  };
}

TEST(FaultOfAnOrder, IsNamedByTheTwoOperationsThatNothingOrders) {
  TriageCase c(faults_in_wrong_order(false));
  const Finding f = c.settle(with_schedule(7)).finding;
  EXPECT_EQ(f.signature.text(), "order: staged in halve, free (t)");
  EXPECT_EQ(f.plan.mode.schedule_seed, 0u);
}

TEST(FaultOfAnOrder, KeepsItsNameWhereTheOrderDoesNotDecide) {
  TriageCase c(faults_in_wrong_order(true));
  const Finding f = c.settle(with_schedule(7)).finding;
  EXPECT_EQ(f.signature.kind, FailKind::illegal_access) << f.signature.text();
}

// Without waits the first of two or more calls is wrong. The pair, which decides about the outputs
// of call `decides`, is only recorded in plans of two calls: in larger ones others hide it.
Bug differs_without_waits(std::size_t decides) {
  return [decides](const Plan& plan, const TrialSpec& trial, const std::vector<Call>&) {
    Observation o = all_right(plan, trial);
    if (trial.mode.launch == Launch::blocking || o.calls.size() < 2) return o;
    if (trial.records_order && o.calls.size() == 2)
      o.order = says(OrderProblem::unordered_free, trial);
    if (!trial.direction)
      ++o.calls[0].buffers[1].digest;
    else if (trial.direction->second_first)
      ++o.calls[decides].buffers[1].digest;
    return o;
  };
}

Finding without_waits(std::size_t decides) {
  TriageCase c(differs_without_waits(decides));
  Plan plan = plain_plan({call_of(64, 16), call_of(32, 16), call_of(16, 16)});
  plan.mode.launch = Launch::gated;
  return c.settle(plan).finding;
}

TEST(OutputsOfAnOrder, AreNamedByItOnceTheReducedPlanShowsIt) {
  const Finding f = without_waits(0);
  EXPECT_EQ(f.signature.text(), "order: staged in halve, free (t)");
  EXPECT_EQ(f.oracle, "order");
  EXPECT_TRUE(f.minimal);
}

TEST(OutputsOfAnOrder, KeepTheirNameWhereItDecidesAboutAnotherCall) {
  const Finding f = without_waits(1);
  EXPECT_EQ(f.signature.kind, FailKind::async) << f.signature.text();
}

}  // namespace
}  // namespace redzone::campaign

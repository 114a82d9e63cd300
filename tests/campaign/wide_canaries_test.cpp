// Reduction of faults where each costs a worker: between canaries first.
#include <gtest/gtest.h>

#include "campaign/triage_case.h"
#include "core/plan_text.h"

namespace redzone::campaign {
namespace {

using namespace testing;
using redzone::testing::faulted;

// As faults_above(64), but with a write, and with wide canaries, one of which it dirties.
// `faults`: number of trials that ended by the fault.
Bug counted_overrun(std::size_t* faults) {
  return [faults](const Plan& plan, const TrialSpec& trial, const std::vector<Call>& before) {
    Observation o = faults_above(64)(plan, trial, before);
    if (o.end != End::fault) return o;
    if (!trial.wide_canaries) {
      ++*faults;
      return faulted(fault_at(o.fault->call, "y", Access::write, Side::after));
    }
    const auto call = static_cast<std::size_t>(o.fault->call);
    o = all_right(plan, trial);
    auto& y = o.calls[call].buffers.back();
    y.dirty_after = 4;
    y.first_dirty_byte = 256;
    return o;
  };
}

TriageOptions with_costly_workers() {
  TriageOptions options = patient();
  options.reuse_workers = true;
  options.confirm_runs = 2;
  options.final_runs = 7;
  options.attribution_runs = 0;
  return options;
}

TEST(WideCanaries, AFaultThatWideCanariesShowIsReducedBetweenThem) {
  std::size_t faults = 0;
  TriageCase c(counted_overrun(&faults), with_costly_workers());
  const Finding f = c.settle(large()).finding;
  EXPECT_EQ(f.plan, plain_plan({call_of(65, 16)})) << print_plan(f.plan);
  EXPECT_TRUE(f.minimal);
  EXPECT_EQ(f.signature.text(), "illegal-access: write after y in k (t)");
  EXPECT_EQ(f.oracle, "fault");
  EXPECT_EQ(f.reliability, (Reliability{3, 3}));
  // Two of the screen, one that looks for the cause and counts, one more that confirms, the reduced
  // plan between guard pages, three schedules of it, three final runs: none for the reduction
  // itself.
  EXPECT_EQ(faults, 11u);
}

TEST(WideCanaries, AFaultThatWideCanariesDoNotShowIsReducedBetweenGuardPages) {
  TriageCase c(faults_above(64), with_costly_workers());
  const Finding f = c.settle(large()).finding;
  EXPECT_EQ(f.plan, plain_plan({call_of(65, 16)})) << print_plan(f.plan);
  EXPECT_TRUE(f.minimal);
}

// Where an access goes far beyond them, each such trial costs a worker, too, and may look
// otherwise.
TEST(WideCanaries, AFaultIsNotReducedBetweenThemWhereTheyDoNotHelp) {
  std::size_t wide = 0;
  TriageOptions options = with_costly_workers();
  options.canaries_help = false;
  TriageCase c(
      [&](const Plan& plan, const TrialSpec& trial, const std::vector<Call>& before) {
        wide += trial.wide_canaries ? 1 : 0;
        return faults_above(64)(plan, trial, before);
      },
      options);
  const Finding f = c.settle(large()).finding;
  EXPECT_EQ(f.plan, plain_plan({call_of(65, 16)})) << print_plan(f.plan);
  EXPECT_TRUE(f.minimal);
  EXPECT_EQ(wide, 0u);
}

// Between wide canaries a smaller plan shows another bug of the target, too.
TEST(WideCanaries, WhatIsReducedBetweenCanariesFailsAsItDidBefore) {
  std::size_t faults = 0;
  TriageCase c(
      [&](const Plan& plan, const TrialSpec& trial, const std::vector<Call>& before) {
        Observation o = counted_overrun(&faults)(plan, trial, before);
        if (o.end != End::completed || !trial.wide_canaries) return o;
        for (auto& call : o.calls) {
          auto& y = call.buffers.back();
          y.dirty_after = 4;
          y.first_dirty_byte = 256;
        }
        return o;
      },
      with_costly_workers());
  const auto settled = c.settle(large());
  EXPECT_EQ(settled.finding.plan, plain_plan({call_of(65, 16)}))
      << print_plan(settled.finding.plan);
  EXPECT_TRUE(settled.finding.minimal);
  EXPECT_EQ(settled.finding.state, FindingState::confirmed);
  EXPECT_FALSE(settled.other.has_value());
}

}  // namespace
}  // namespace redzone::campaign

// What triage says about the load of the machine.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

#include "campaign/triage.h"
#include "campaign/triage_case.h"

namespace redzone::campaign {
namespace {

using namespace testing;

TEST(Load, TellsABusyMachineFromBadLuck) {
  const auto loads = [](double alone, double beside_others) {
    auto random = std::make_shared<std::mt19937>(3);
    auto executor = std::make_shared<const FakeExecutor*>(nullptr);
    TriageCase c([=](const Plan& plan, const TrialSpec& trial, const std::vector<Call>& before) {
      const bool busy = *executor == nullptr || (*executor)->together() != 1;
      return std::bernoulli_distribution(busy ? beside_others : alone)(*random)
                 ? faults_above(64)(plan, trial, before)
                 : all_right(plan, trial);
    });
    *executor = &c.executor;
    std::map<std::string, Reliability> out;
    for (const auto& row : c.settle(large()).finding.attribution)
      if (row.axis == "load") out[row.value] = row.failed;
    return out;
  };
  // Runs are otherwise made side by side, so here the failure seems to show always.
  auto busy = loads(0, 1);
  EXPECT_EQ(busy["alone"], (Reliability{0, 16}));
  EXPECT_EQ(busy["side by side"], (Reliability{16, 16}));
  auto rare = loads(0.5, 0.5);
  EXPECT_GE(rare["alone"].k, 3);
  EXPECT_LE(rare["side by side"].k, 13);
  EXPECT_TRUE(loads(1, 1).empty()) << "it fails always, busy or not";
}

// What a process keeps from its first call shows only where each trial has a process of its own;
// runs that measure the load share one.
TEST(Load, SaysNothingWhereRunsInOneProcessDoNotShowTheFailure) {
  // Each call has the result of the process's first one; the reference knows the right one.
  TriageCase c([](const Plan& plan, const TrialSpec& trial, const std::vector<Call>& before) {
    const auto first_of = [](const Call& call, const std::vector<Call>& earlier) {
      return right_digest(earlier.empty() ? call : earlier.front());
    };
    Observation o = outputs(plan, trial, before, first_of);
    const auto calls = calls_of(plan);
    for (auto& call : o.calls) {
      const auto right = right_digest(calls[static_cast<std::size_t>(call.call)]->call);
      const bool wrong = call.buffers.front().digest != right;
      if (trial.reference)
        call.references = {{.tensor = "y", .numel = 16, .mismatches = wrong ? 1u : 0u}};
    }
    return o;
  });
  const Finding f = c.settle(plain_plan({call_of(40, 16), call_of(90, 16)})).finding;
  EXPECT_EQ(f.signature.kind, FailKind::history) << f.signature.text();
  EXPECT_EQ(f.reliability.k, f.reliability.n);
  ASSERT_FALSE(f.attribution.empty());
  for (const auto& row : f.attribution) EXPECT_NE(row.axis, "load") << row.failed.k;
}

}  // namespace
}  // namespace redzone::campaign

// Reduces failures that do not show in every run. A lucky pass must not count as a pass of the
// plan: the result is the same as for a failure that always shows.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "campaign/fakes.h"
#include "campaign/triage.h"

namespace redzone::campaign {
namespace {

using namespace testing;

constexpr int kRepetitions = 100;
constexpr int kLeastRight = 95;

// Reads behind `x` in the first call with N above 64, with probability `rate`.
Bug faults_sometimes(double rate, std::uint64_t seed) {
  auto random = std::make_shared<std::mt19937_64>(seed);
  return [random, rate](const Plan& plan, const TrialSpec& trial, const std::vector<Call>& before) {
    return std::bernoulli_distribution(rate)(*random) ? faults_above(64)(plan, trial, before)
                                                      : all_right(plan, trial);
  };
}

struct Settled {
  Finding finding;
  std::uint64_t trials = 0;
};

Settled reduced_flaky(double rate, std::uint64_t seed, const TargetSpec& spec,
                      const oracles::Catalog& catalog) {
  FakeExecutor executor(faults_sometimes(rate, seed));
  RecordingSink sink;
  Finding finding;
  finding.signature = {FailKind::illegal_access, "t", "k", "x", "after", "read"};
  finding.oracle = "fault";
  finding.plan = finding.original = busy_plan({call_of(30, 32), call_of(200, 64)});
  finding.id = sink.record(finding)->id;
  TriageOptions options;
  options.reduce_time = std::chrono::hours(1);
  options.most_runs = 400;
  Triage triage(executor, catalog, real_simplify(), sink, options);
  auto again = triage.reduce_again(finding, spec);
  EXPECT_TRUE(again);
  return {again->finding, executor.trials()};
}

TEST(Flaky, IsReducedAsFarAsWhatFailsAlways) {
  const TargetSpec spec = small_spec();
  const oracles::Catalog catalog({}, SanitizerTool::none, {}, mode_axes_with(SeedDecides::nothing));
  const Plan want = plain_plan({call_of(65, 16)});
  for (const double rate : {0.9, 0.5, 0.2, 0.05}) {
    int right = 0;
    std::uint64_t trials = 0;
    for (int seed = 1; seed <= kRepetitions; ++seed) {
      const auto outcome = reduced_flaky(rate, static_cast<std::uint64_t>(seed), spec, catalog);
      right += outcome.finding.plan == want && outcome.finding.minimal ? 1 : 0;
      trials += outcome.trials;
    }
    fmt::print("fails with {:.2f}: {} of {} reduced to the minimum, {} trials each\n", rate, right,
               kRepetitions, trials / kRepetitions);
    EXPECT_GE(right, kLeastRight) << rate;
  }
}

}  // namespace
}  // namespace redzone::campaign

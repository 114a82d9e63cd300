#include "nightly/exit_code.h"

#include <algorithm>

#include "core/exit_code.h"
#include "core/run_result.h"

namespace redzone::nightly {
namespace {

// Of the fuzzing, and of what was replayed: a replay is judged when a run of it was.
RunResult result_of(const report::Night& night) {
  PlanCounts plans{.judged = night.pass + night.fail, .harness_errors = night.harness_errors};
  const auto count = [&](const auto& replayed) {
    for (const auto& each : replayed)
      if (each.n > 0) ++plans.judged;
  };
  count(night.findings);
  count(night.corpus);
  return rank_plans(plans);
}

bool not_run_by_the_harness(const report::Night& night) {
  const auto any = [](const auto& replayed) {
    return std::any_of(replayed.begin(), replayed.end(),
                       [](const auto& each) { return each.tonight == Tonight::harness_error; });
  };
  return any(night.findings) || any(night.corpus);
}

}  // namespace

int night_exit_code(const report::Night& night, bool broken_corpus) {
  if (report::alarm_count(night) > 0) return kFound;
  if (!night.problem.empty() || not_run_by_the_harness(night)) return kHarness;
  if (broken_corpus) return kUsage;
  return exit_code_of(result_of(night));
}

std::optional<int> exit_code_of(const NightParts& night) {
  const auto& runs = night.runs;
  const auto ended_with = [&](int code) {
    return std::any_of(runs.begin(), runs.end(),
                       [&](const auto& run) { return run.exit_code == code; });
  };
  for (const int code : {kUnsound, kFound, kHarness})
    if (ended_with(code)) return code;
  // A shard that is not there may have found something, as may one that was cut off.
  const bool missing = runs.size() > 1 && runs.size() < static_cast<std::size_t>(runs[0].shards);
  if (missing ||
      std::any_of(runs.begin(), runs.end(), [](const auto& run) { return !run.finished(); }))
    return std::nullopt;
  for (const int code : {kUsage, kOk})
    if (ended_with(code)) return code;
  return kNotJudged;
}

}  // namespace redzone::nightly

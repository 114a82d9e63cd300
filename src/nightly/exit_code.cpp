#include "nightly/exit_code.h"

#include <algorithm>
#include <vector>

#include "core/exit_code.h"
#include "core/run_result.h"

namespace redzone::nightly {
namespace {

// What the plans of one target came to; nothing of a target that was not to be fuzzed, or that does
// not apply here.
std::optional<RunResult> result_of(const report::NightTarget& target) {
  if (target.no_time) return RunResult::not_judged;
  if (target.plans == target.not_applicable) return std::nullopt;
  return rank_plans({.judged = target.pass + target.fail, .harness_errors = target.harness_errors});
}

// Of the fuzzing the target that came to least; where none was fuzzed, what was replayed: a replay
// is judged when a run of it was.
RunResult result_of(const report::Night& night) {
  std::vector<RunResult> targets;
  for (const auto& target : night.targets)
    if (const auto result = result_of(target)) targets.push_back(*result);
  if (!targets.empty()) return rank_runs(targets);
  const auto any_judged = [](const auto& replayed) {
    return std::any_of(replayed.begin(), replayed.end(),
                       [](const auto& each) { return each.n > 0; });
  };
  return any_judged(night.findings) || any_judged(night.corpus) ? RunResult::pass
                                                                : RunResult::not_judged;
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
  // A mistake in a spec, however many plans did not meet it.
  if (std::any_of(night.targets.begin(), night.targets.end(),
                  [](const auto& t) { return !t.spec_error.empty(); }))
    return kUsage;
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

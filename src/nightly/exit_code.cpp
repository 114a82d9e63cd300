#include "nightly/exit_code.h"

#include <algorithm>
#include <array>
#include <vector>

#include "core/exit_code.h"
#include "core/run_result.h"

namespace redzone::nightly {
namespace {

// The worst result of the fuzzed targets; if none was fuzzed, of the replays: a replay is judged if
// one of its runs was.
RunResult result_of(const report::Night& night) {
  std::vector<PlanCounts> targets;
  bool without_turn = false;
  for (const auto& t : night.targets) {
    without_turn = without_turn || t.no_time;
    if (t.plans > t.not_applicable)
      targets.push_back({.judged = t.pass + t.fail,
                         .harness_errors = t.harness_errors,
                         .inconclusive = t.inconclusive});
  }
  if (without_turn) return rank_runs(std::array{rank_targets(targets), RunResult::not_judged});
  if (!targets.empty()) return rank_targets(targets);
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
  if (report::alarms_of(night).count() > 0) return kFound;
  if (!night.problem.empty() || not_run_by_the_harness(night)) return kHarness;
  if (broken_corpus) return kUsage;
  // A mistake in a spec counts, however many plans did not meet it.
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
  // A missing shard may have found something, as may one that was cut off.
  const bool missing = runs.size() > 1 && runs.size() < static_cast<std::size_t>(runs[0].shards);
  if (missing ||
      std::any_of(runs.begin(), runs.end(), [](const auto& run) { return !run.finished(); }))
    return std::nullopt;
  for (const int code : {kUsage, kOk})
    if (ended_with(code)) return code;
  return kNotJudged;
}

}  // namespace redzone::nightly

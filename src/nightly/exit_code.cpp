#include "nightly/exit_code.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "core/exit_code.h"
#include "core/run_result.h"

namespace redzone::nightly {
namespace {

// The result of a replay that is not an alarm. An unclear replay counts as a pass if some of its
// runs were judged: no run failed, or the failure is waived.
RunResult result_of(ReplayOutcome outcome, std::int64_t judged_runs) {
  switch (outcome) {
    case ReplayOutcome::harness_error:
      return RunResult::harness_error;
    case ReplayOutcome::not_applicable:
    case ReplayOutcome::not_run:
      return RunResult::not_judged;
    case ReplayOutcome::unclear:
      return judged_runs > 0 ? RunResult::pass : RunResult::not_judged;
    default:
      return RunResult::pass;
  }
}

// True if the outcome of a known finding counts. A night may run on another device than the
// finding's, and it first replays findings that waited longest, so not every night reaches every
// finding.
bool counts(const report::NightFinding& f) {
  return f.outcome != ReplayOutcome::not_applicable && f.outcome != ReplayOutcome::not_run &&
         !is_waived(f.ledger.standing);
}

// True if the outcome of a plan of the corpus counts: always if its target was to be fuzzed,
// otherwise only if the plan was judged.
bool counts(const report::NightPlan& p, const std::set<std::string>& fuzzed) {
  if (p.waived) return is_failure(p.outcome);
  return fuzzed.contains(p.target) || result_of(p.outcome, p.n) != RunResult::not_judged;
}

// The worst result of the fuzzed targets and the replays, in a single ranking.
RunResult result_of(const report::Night& night) {
  std::vector<RunResult> results;
  std::vector<PlanCounts> targets;
  std::set<std::string> fuzzed;
  for (const auto& t : night.targets) {
    if (t.no_time) results.push_back(RunResult::not_judged);
    if (t.no_time || t.plans > 0) fuzzed.insert(t.name);
    if (t.plans > t.not_applicable)
      targets.push_back({.judged = t.pass + t.fail,
                         .harness_errors = t.harness_errors,
                         .inconclusive = t.inconclusive});
  }
  if (!targets.empty()) results.push_back(rank_targets(targets));
  for (const auto& f : night.findings)
    if (counts(f)) results.push_back(result_of(f.outcome, f.n));
  for (const auto& p : night.corpus)
    if (counts(p, fuzzed)) results.push_back(result_of(p.outcome, p.n));
  return rank_runs(results);
}

bool not_run_by_the_harness(const report::Night& night) {
  const auto any = [](const auto& replayed) {
    return std::any_of(replayed.begin(), replayed.end(), [](const auto& each) {
      return each.outcome == ReplayOutcome::harness_error;
    });
  };
  return any(night.findings) || any(night.corpus);
}

}  // namespace

int night_exit_code(const report::Night& night, bool broken_corpus) {
  if (report::alarms_of(night).count() > 0) return kFound;
  if (!night.problem.empty() || not_run_by_the_harness(night)) return kHarness;
  if (broken_corpus) return kUsage;
  // A mistake in a spec counts even if only some plans met it.
  if (std::any_of(night.targets.begin(), night.targets.end(),
                  [](const auto& t) { return !t.spec_error.empty(); }))
    return kUsage;
  return exit_code_of(result_of(night));
}

std::optional<int> exit_code_of(const NightParts& night) {
  const auto& runs = night.runs;
  // A shard of a fleet whose GPU died is run again on another node.
  const auto made_up_for = [&](const store::NightRun& run) {
    return run.exit_code == kHarness &&
           std::any_of(runs.begin(), runs.end(), [&](const store::NightRun& other) {
             return other.shard == run.shard && other.finished() && other.exit_code != kHarness;
           });
  };
  const auto ended_with = [&](int code) {
    return std::any_of(runs.begin(), runs.end(),
                       [&](const auto& run) { return run.exit_code == code && !made_up_for(run); });
  };
  for (const int code : {kUnsound, kFound, kHarness})
    if (ended_with(code)) return code;
  // A missing shard, or one that was cut off, may have found something.
  if (!night.open_shards().empty()) return std::nullopt;
  for (const int code : {kUsage, kOk})
    if (ended_with(code)) return code;
  return kNotJudged;
}

}  // namespace redzone::nightly

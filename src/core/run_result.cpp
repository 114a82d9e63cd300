#include "core/run_result.h"

#include <algorithm>
#include <vector>

namespace redzone {
namespace {

// The result of a run with this answer only.
RunResult result_of(const Verdict& verdict, const std::optional<Signature>& recorded) {
  switch (verdict.outcome) {
    case Outcome::fail:
      return !recorded || fails_as(verdict.signature, *recorded) ? RunResult::recorded
                                                                 : RunResult::other;
    case Outcome::harness_error:
      return RunResult::harness_error;
    case Outcome::inconclusive:
    case Outcome::not_applicable:
      return RunResult::not_judged;
    case Outcome::pass:
      break;
  }
  return RunResult::pass;
}

// Of two failures with the same rank, the more specific one decides.
bool outranks(const Verdict& a, const Verdict& b) {
  return a.failed() && b.failed() && more_specific(a.signature.kind, b.signature.kind);
}

// The answer that best explains why nothing was judged: the first whose trials could not run, else
// the first that does not apply to the plan.
std::size_t why_not_judged(std::span<const OracleAnswer> answers) {
  const auto first = [&](auto matches) {
    return static_cast<std::size_t>(std::find_if(answers.begin(), answers.end(), matches) -
                                    answers.begin());
  };
  const auto says_why = [](const OracleAnswer& a) { return a.verdict.outcome != Outcome::pass; };
  const std::size_t not_run =
      first([&](const OracleAnswer& a) { return says_why(a) && a.trials == TrialsRun::none; });
  if (not_run < answers.size()) return not_run;
  const std::size_t any = first(says_why);
  return any < answers.size() ? any : 0;
}

}  // namespace

RunResult rank_runs(std::span<const RunResult> runs) {
  return runs.empty() ? RunResult::not_judged : *std::min_element(runs.begin(), runs.end());
}

RunResult rank_plans(const PlanCounts& plans) {
  if (plans.judged > plans.harness_errors) return RunResult::pass;
  return plans.harness_errors > 0 ? RunResult::harness_error : RunResult::not_judged;
}

RunResult rank_targets(std::span<const PlanCounts> targets) {
  std::vector<RunResult> results;
  for (const auto& plans : targets)
    if (plans.judged + plans.harness_errors + plans.inconclusive > 0)
      results.push_back(rank_plans(plans));
  return rank_runs(results);
}

Exit exit_code_of(RunResult result) {
  switch (result) {
    case RunResult::recorded:
    case RunResult::other:
      return kFound;
    case RunResult::harness_error:
      return kHarness;
    case RunResult::pass:
      return kOk;
    case RunResult::not_judged:
      break;
  }
  return kNotJudged;
}

RankedRun rank_run(std::span<const OracleAnswer> answers,
                   const std::optional<Signature>& recorded) {
  RZ_CHECK(!answers.empty());
  std::optional<std::size_t> best;
  RankedRun out;
  const bool ran = std::any_of(answers.begin(), answers.end(),
                               [](const OracleAnswer& a) { return a.trials == TrialsRun::some; });
  const auto consider = [&](std::optional<std::size_t>& place, std::size_t i) {
    if (!place || outranks(answers[i].verdict, answers[*place].verdict)) place = i;
  };
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const RunResult result = result_of(answers[i].verdict, recorded);
    if (result == RunResult::other) consider(out.other, i);
    const bool own = recorded && i == 0;
    if (answers[i].verdict.outcome == Outcome::not_applicable && !own) continue;
    if (!best || result < out.result) {
      best = i;
      out.result = result;
    } else if (result == out.result) {
      consider(best, i);
    }
  }
  if (!best || (out.result == RunResult::pass && !ran))
    return {RunResult::not_judged, why_not_judged(answers), std::nullopt};
  out.decisive = *best;
  return out;
}

}  // namespace redzone

#include "bisect/evaluator_runner.h"

#include <utility>

namespace redzone::bisect {
namespace {

Counts counts_of(const campaign::RunJudgement& run, const Signature& recorded) {
  Counts counts;
  switch (run.result) {
    case RunResult::recorded:
      counts.same = 1;
      if (same_bug(run.verdict.signature, recorded)) break;
      counts.same_otherwise = 1;
      counts.said = run.verdict.signature.text();
      break;
    case RunResult::other:
      counts.other = 1;
      counts.said = run.other->verdict.signature.text();
      break;
    case RunResult::pass:
      counts.passed = 1;
      break;
    case RunResult::harness_error:
      counts.errors = 1;
      [[fallthrough]];
    case RunResult::not_judged:
      counts.unjudged = 1;
      counts.said = run.verdict.reason;
      break;
  }
  return counts;
}

}  // namespace

std::vector<Counts> EvaluatorRunner::run(std::span<const Request> requests) {
  std::vector<const Plan*> plans;
  std::vector<std::size_t> request_of;  // request of each run
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const auto times = static_cast<std::size_t>(requests[i].times);
    plans.insert(plans.end(), times, &requests[i].plan);
    request_of.insert(request_of.end(), times, i);
  }
  auto runs = campaign::judge_variants(evaluator_, catalog_, oracle_, signature_, plans);
  std::vector<Counts> out(requests.size());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    out[request_of[i]].add(counts_of(runs[i], signature_));
    met_recorded_ = met_recorded_ || runs[i].result == RunResult::recorded;
    if (runs[i].other && !other_) other_ = std::move(runs[i].other);
  }
  return out;
}

}  // namespace redzone::bisect

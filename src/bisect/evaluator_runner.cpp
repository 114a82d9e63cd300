#include "bisect/evaluator_runner.h"

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
  std::vector<campaign::Question> questions;
  std::vector<std::size_t> oracles_of;  // by request: number of oracles for each of its runs
  for (const auto& request : requests) {
    const auto oracles = campaign::own_oracles(catalog_, oracle_, request.plan, evaluator_.spec());
    oracles_of.push_back(oracles.size());
    for (std::int64_t t = 0; t < request.times; ++t)
      for (const auto* oracle : oracles) questions.push_back({oracle, request.plan});
  }
  const auto answers = evaluator_.ask(questions);
  auto rest = std::span<const campaign::Answer>(answers);
  std::vector<Counts> out(requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i)
    for (std::int64_t t = 0; t < requests[i].times; ++t) {
      auto run = campaign::judge_run(requests[i].plan, rest.first(oracles_of[i]), signature_);
      out[i].add(counts_of(run, signature_));
      met_recorded_ = met_recorded_ || run.result == RunResult::recorded;
      if (run.other && !other_) other_ = std::move(run.other);
      rest = rest.subspan(oracles_of[i]);
    }
  return out;
}

}  // namespace redzone::bisect

#include "bisect/evaluator_runner.h"

#include <algorithm>
#include <iterator>
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
  std::vector<Run> runs;
  for (std::size_t i = 0; i < requests.size(); ++i)
    runs.insert(runs.end(), static_cast<std::size_t>(requests[i].times), {&requests[i].plan, i});
  std::vector<Run*> all;
  all.reserve(runs.size());
  for (auto& run : runs) all.push_back(&run);
  const TargetSpec& spec = evaluator_.spec();
  ask(all, [&](const Plan& plan) { return campaign::own_oracles(catalog_, oracle_, plan, spec); });
  std::erase_if(all, [](const Run* run) { return run->judged.result != RunResult::pass; });
  ask(all, [&](const Plan&) { return campaign::further_oracles(catalog_, oracle_, spec); });
  std::vector<Counts> out(requests.size());
  for (auto& run : runs) {
    out[run.request].add(counts_of(run.judged, signature_));
    met_recorded_ = met_recorded_ || run.judged.result == RunResult::recorded;
    if (run.judged.other && !other_) other_ = std::move(run.judged.other);
  }
  return out;
}

void EvaluatorRunner::ask(std::span<Run* const> runs, const OraclesOf& oracles_of) {
  std::vector<campaign::Question> questions;
  std::vector<std::size_t> asked;  // by run
  for (const Run* run : runs) {
    const auto oracles = oracles_of(*run->plan);
    asked.push_back(oracles.size());
    for (const auto* oracle : oracles) questions.push_back({oracle, *run->plan});
  }
  auto answers = evaluator_.ask(questions);
  auto next = std::make_move_iterator(answers.begin());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (asked[i] == 0) continue;
    const auto end = next + static_cast<std::ptrdiff_t>(asked[i]);
    runs[i]->answers.insert(runs[i]->answers.end(), next, end);
    next = end;
    runs[i]->judged = campaign::judge_run(*runs[i]->plan, runs[i]->answers, signature_);
  }
}

}  // namespace redzone::bisect

#include "bisect/evaluator_runner.h"

namespace redzone::bisect {
namespace {

// Where an oracle compares trials and one of them crashed, there is no verdict, and yet a failure.
const Observation* crashed(const campaign::Answer& answer) {
  for (const auto& o : answer.observations)
    if (o.end == End::fault || o.end == End::hang || o.end == End::exited) return &o;
  return nullptr;
}

Counts counts_of(const campaign::Answer& answer, const Signature& wanted) {
  const Verdict& verdict = answer.verdict;
  Counts counts;
  if (verdict.failed()) {
    if (campaign::same_bug(verdict.signature, wanted)) {
      counts.same = 1;
    } else {
      counts.other = 1;
      counts.said = verdict.signature.text();
    }
  } else if (verdict.outcome == Outcome::pass) {
    counts.passed = 1;
  } else if (const Observation* o = crashed(answer)) {
    counts.other = 1;
    counts.said = o->fault ? o->fault->code : std::string(name_of(o->end));
  } else {
    counts.unjudged = 1;
    counts.said = verdict.reason;
  }
  return counts;
}

}  // namespace

std::vector<Counts> EvaluatorRunner::run(std::span<const Request> requests) {
  std::vector<campaign::Question> questions;
  for (const auto& request : requests)
    questions.insert(questions.end(), static_cast<std::size_t>(request.times),
                     {&oracle_, request.plan});
  const auto answers = evaluator_.ask(questions);
  std::vector<Counts> out(requests.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < requests.size(); ++i)
    for (std::int64_t t = 0; t < requests[i].times; ++t)
      out[i].add(counts_of(answers[next++], signature_));
  return out;
}

}  // namespace redzone::bisect

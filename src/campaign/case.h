// A suspect on its way to a finding: what the stations of triage hand on (stations.h).
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "campaign/evaluator.h"
#include "core/finding.h"
#include "exec/executor.h"

namespace redzone::campaign {

// What the screen saw.
struct Suspect {
  Plan plan;
  Verdict verdict;
  std::vector<TrialSpec> trials;  // none: judged without a device
  std::shared_ptr<const exec::WorkerLog> log;
  std::size_t log_size = 0;
};

// An oracle and a plan that it fails on in a fresh worker.
struct Shown {
  const Oracle* oracle = nullptr;
  Plan plan;
  Answer answer;
};

struct Case {
  Finding finding;      // as stored; its state may be unconfirmed
  bool is_new = false;  // its signature was unknown when the finding got it
  // What the next station goes on with. Nothing where there is nothing to do: it did not recur, or
  // is stored with a minimal plan.
  std::optional<Shown> shown = {};
  bool grouped = false;  // trials of a question share a worker
  // The first failure with direct evidence and another signature that was met. Not stored yet.
  std::optional<Alarm> other = {};
};

// The same failure, for the finding.
inline bool same_failure(const Answer& answer, const Signature& signature) {
  return answer.verdict.failed() && same_bug(answer.verdict.signature, signature);
}

// Keeps the first failure that is not `looked_for`.
void note_other(Case& c, const Question& question, const Answer& answer,
                const Signature& looked_for);
// Forgets the other failure if the finding has become that one.
void drop_if_same(Case& c);

}  // namespace redzone::campaign

// A suspect during triage: the data that one station passes to the next (stations.h).
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "campaign/evaluator.h"
#include "core/finding.h"
#include "exec/executor.h"

namespace redzone::campaign {

// A failure that the screen found.
struct Suspect {
  Plan plan;
  Verdict verdict;
  std::vector<TrialSpec> trials;  // empty: judged without a device
  std::shared_ptr<const exec::WorkerLog> log;
  std::size_t log_size = 0;
};

// True if the failure was seen with wide canaries; see TrialSpec.
inline bool is_between_canaries(const Suspect& suspect) {
  return std::any_of(suspect.trials.begin(), suspect.trials.end(),
                     [](const TrialSpec& trial) { return trial.wide_canaries; });
}

// An oracle, and a plan on which it fails in a fresh worker.
struct Shown {
  const Oracle* oracle = nullptr;
  Plan plan;
  Answer answer;
};

struct Case {
  Finding finding;      // as stored; its state may be unconfirmed
  bool is_new = false;  // the signature was unknown when the finding received it
  // Input of the next station. Empty if no work is left: the failure did not recur, or is already
  // stored with a minimal plan.
  std::optional<Shown> shown = {};
  bool goes_on = false;  // its reduction continues an earlier, unfinished one
  bool grouped = false;  // the trials of a question share a worker
  // The failure recurred in every run in workers with one hardware queue
  // (Evaluator::set_one_queue()), so smaller plans are also tried in such workers.
  bool one_queue = false;
  // The first failure with direct evidence and another signature. Not stored yet.
  std::optional<Alarm> other = {};
};

// True if the answer shows the failure of the finding.
inline bool same_failure(const Answer& answer, const Signature& signature) {
  return answer.verdict.failed() && same_bug(answer.verdict.signature, signature);
}

// Stores the answer's failure in Case::other if it has direct evidence, differs from `looked_for`,
// and is the first such failure.
void note_other(Case& c, const Question& question, const Answer& answer,
                const Signature& looked_for);
// Clears the other failure if the finding now has the same signature.
void drop_if_same(Case& c);

}  // namespace redzone::campaign

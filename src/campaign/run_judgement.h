// Judges one run of a plan from the answers of all oracles that judged it, by the ranking of
// core/run_result.h, including failures that single trials show by themselves.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "campaign/evaluator.h"
#include "core/run_result.h"
#include "oracles/catalog.h"

namespace redzone::campaign {

struct RunJudgement {
  RunResult result = RunResult::not_judged;
  // The verdict that decided, or the reason why nothing was judged. Its reference counts are always
  // those of the oracle that uses the reference.
  Verdict verdict;
  std::size_t answer = 0;      // index of the answer with this verdict
  std::optional<Alarm> other;  // a failure with another signature than the recorded one
};

// `answers` has one answer for each oracle that ran `plan`; with `recorded` the first is that of
// the finding's own oracle. A run without a failure passes, unless it could not have shown the
// recorded failure; then it is not judged:
//   - the recorded failure needs the reference, and a call of the plan was not compared with it;
//   - the recorded access was before or after a buffer, and the mode has neither canaries nor guard
//     pages around that buffer.
RunJudgement judge_run(const Plan& plan, std::span<const Answer> answers,
                       const std::optional<Signature>& recorded);

// The verdict of the finding's own oracle in `own`, by the rules of judge_run().
Verdict own_verdict(const Plan& plan, const Answer& own, const Signature& recorded);

// One run of a plan by all oracles, and its judgement.
struct JudgedRun {
  std::vector<Answer> answers;
  RunJudgement judgement;  // its `answer` is an index into `answers`
};

// Runs `plan` `runs` times with all `oracles` and judges each run (judge_run()). oracles[0] and the
// oracles that run the plan as written go first. If one of their trials hangs, the run ends with
// that verdict: trials in other modes would most likely hang, too, and cost their deadlines.
std::vector<JudgedRun> ask_runs(Evaluator& evaluator, std::span<const Oracle* const> oracles,
                                const Plan& plan, const std::optional<Signature>& recorded,
                                std::int64_t runs);

// Judges the answer of a tool that was run instead of the oracle that found `recorded`: a failure
// that the tool reports is a separate failure, unless it is the same bug.
RunJudgement judge_by_tool(const Plan& plan, const Answer& answer,
                           const std::optional<Signature>& recorded);

// Whether a run's failure with another signature is an alarm of its own. A wrong output together
// with the recorded failure is a consequence of that failure; a failure that a single trial shows
// directly, such as a fault, is always an alarm of its own.
bool is_own_alarm(const Verdict& other, bool recorded_too);

// The oracles that show whether a plan still fails as recorded under `own`, with `own` first. An
// oracle that needs no trial cannot show that the plan runs, so one that runs trials is added.
std::vector<const Oracle*> own_oracles(const oracles::Catalog& catalog, const Oracle& own,
                                       const Plan& plan, const TargetSpec& spec);

// The oracles that must also pass before the plan counts as passing: the target's reference,
// because wrong outputs are a failure whatever was recorded.
std::vector<const Oracle*> further_oracles(const oracles::Catalog& catalog, const Oracle& own,
                                           const TargetSpec& spec);

// Returns own_oracles(), then further_oracles().
std::vector<const Oracle*> oracles_for(const oracles::Catalog& catalog, const Oracle& own,
                                       const Plan& plan, const TargetSpec& spec);

}  // namespace redzone::campaign

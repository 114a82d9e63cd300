// Judges one run of a plan from the answers of all oracles that judged it, by the ranking of
// core/run_result.h, including what single trials show by themselves.
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
// the finding's own oracle. A run without a failure passes, except where it could not have shown
// the recorded one; such a run is not judged:
//   - the reference failed, and a call of the plan was not compared with it;
//   - an access was before or after a buffer, and the mode has neither canaries nor guard pages
//     around that buffer.
RunJudgement judge_run(const Plan& plan, std::span<const Answer> answers,
                       const std::optional<Signature>& recorded);

// The verdict of the finding's own oracle in `own`, by the same rules.
Verdict own_verdict(const Plan& plan, const Answer& own, const Signature& recorded);

// One run of a plan by all oracles, and its judgement.
struct JudgedRun {
  std::vector<Answer> answers;
  RunJudgement judgement;  // whose `answer` is one of these
};

// Runs `plan` `runs` times by all `oracles` and judges each run (judge_run()). The trials in the
// plan's own mode and those of oracles[0] go first. If one of them hangs, the run ends with that
// verdict: trials in other modes would most likely hang, too, and cost their deadlines.
std::vector<JudgedRun> ask_runs(Evaluator& evaluator, std::span<const Oracle* const> oracles,
                                const Plan& plan, const std::optional<Signature>& recorded,
                                std::int64_t runs);

// `answer` is that of a tool which was asked in the place of the oracle that found `recorded`: what
// it reports is a failure of its own, unless it is the same bug.
RunJudgement judge_by_tool(const Plan& plan, const Answer& answer,
                           const std::optional<Signature>& recorded);

// Whether runs that fail with another signature are an alarm of their own. A wrong output beside
// the recorded failure is a consequence of that failure; what a single trial shows directly, such
// as a fault, is never explained away.
bool is_own_alarm(const Verdict& other, bool recorded_too);

// The oracles that show whether a plan still fails as recorded under `own`, with `own` first. An
// oracle that needs no trial cannot show that the plan runs, so one that does is added.
std::vector<const Oracle*> own_oracles(const oracles::Catalog& catalog, const Oracle& own,
                                       const Plan& plan, const TargetSpec& spec);

// Those that must pass, too, before such a plan counts as passing: the target's reference, because
// wrong outputs are a failure whatever was recorded.
std::vector<const Oracle*> further_oracles(const oracles::Catalog& catalog, const Oracle& own,
                                           const TargetSpec& spec);

// Both.
std::vector<const Oracle*> oracles_for(const oracles::Catalog& catalog, const Oracle& own,
                                       const Plan& plan, const TargetSpec& spec);

}  // namespace redzone::campaign

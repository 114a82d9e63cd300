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

// `answers` are about `plan`, one for each oracle; with `recorded` the first is that of the
// finding's own oracle. A recorded failure of the reference has not passed where a call of the plan
// was not compared: it is not judged.
// Nor has an access before or after a buffer passed in a mode that surrounds that buffer with
// nothing in which it would be seen.
RunJudgement judge_run(const Plan& plan, std::span<const Answer> answers,
                       const std::optional<Signature>& recorded);

// What the finding's own oracle said in `own`, by these two rules.
Verdict own_verdict(const Plan& plan, const Answer& own, const Signature& recorded);

// A run of a plan: what was asked of it and what it comes to.
struct JudgedRun {
  std::vector<Answer> answers;
  RunJudgement judgement;  // whose `answer` is one of these
};

// So many runs of `plan`, each judged by `oracles`: see judge_run(). What runs the plan as written
// is asked first, with oracles[0]: where a trial hangs nothing else is, as every other way to run
// such a plan would most likely cost its deadline, too, and the hang has decided.
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

// The oracles that must pass before such a plan counts as passing: includes the target's reference,
// because wrong outputs are a failure whatever was recorded.
std::vector<const Oracle*> oracles_for(const oracles::Catalog& catalog, const Oracle& own,
                                       const Plan& plan, const TargetSpec& spec);

}  // namespace redzone::campaign

// Runs plans that differ from a finding's plan, to learn which of them fail in the same way: the
// single judgement behind attribution, bisection and explanations.
#pragma once

#include <span>
#include <vector>

#include "campaign/run_judgement.h"

namespace redzone::campaign {

// Runs each plan once and returns the judgements in the order of the plans; a plan may be listed
// several times. judge_run() judges each run from the answers of own_oracles(). Runs that pass are
// also judged by further_oracles(), because wrong outputs are no pass, whatever was recorded. The
// further oracles run only for these, because most variants fail and each fault costs a worker.
std::vector<RunJudgement> judge_variants(Evaluator& evaluator, const oracles::Catalog& catalog,
                                         const Oracle& own, const Signature& recorded,
                                         std::span<const Plan* const> plans);

}  // namespace redzone::campaign

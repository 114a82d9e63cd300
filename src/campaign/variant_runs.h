// Runs plans that differ from a finding's, to learn which of them fail as it does: the one
// judgement behind attribution, bisection and explanations.
#pragma once

#include <span>
#include <vector>

#include "campaign/run_judgement.h"

namespace redzone::campaign {

// One run of each plan, in their order; a plan may be listed several times. Runs are judged by
// judge_run() from the answers of own_oracles(), and those that pass so from those of
// further_oracles(), too: wrong outputs are no pass, whatever was recorded. Most variants fail, and
// a fault costs a worker, so the others are not asked of all.
std::vector<RunJudgement> judge_variants(Evaluator& evaluator, const oracles::Catalog& catalog,
                                         const Oracle& own, const Signature& recorded,
                                         std::span<const Plan* const> plans);

}  // namespace redzone::campaign

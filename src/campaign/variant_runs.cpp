#include "campaign/variant_runs.h"

#include <iterator>
#include <utility>

namespace redzone::campaign {
namespace {

struct VariantRun {
  const Plan* plan = nullptr;
  std::vector<Answer> answers = {};
  RunJudgement judged = {};
};

// Adds the answers of more oracles to those of each run, and judges the run again.
template <typename OraclesOf>
void ask_more(Evaluator& evaluator, const Signature& recorded, std::span<VariantRun* const> runs,
              const OraclesOf& oracles_of) {
  std::vector<Question> questions;
  std::vector<std::size_t> asked;  // by run
  for (const VariantRun* run : runs) {
    const auto oracles = oracles_of(*run->plan);
    asked.push_back(oracles.size());
    for (const auto* oracle : oracles) questions.push_back({oracle, *run->plan});
  }
  auto answers = evaluator.ask(questions);
  auto next = std::make_move_iterator(answers.begin());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (asked[i] == 0) continue;
    const auto end = next + static_cast<std::ptrdiff_t>(asked[i]);
    runs[i]->answers.insert(runs[i]->answers.end(), next, end);
    next = end;
    runs[i]->judged = judge_run(*runs[i]->plan, runs[i]->answers, recorded);
  }
}

}  // namespace

std::vector<RunJudgement> judge_variants(Evaluator& evaluator, const oracles::Catalog& catalog,
                                         const Oracle& own, const Signature& recorded,
                                         std::span<const Plan* const> plans) {
  std::vector<VariantRun> runs;
  runs.reserve(plans.size());
  for (const Plan* plan : plans) runs.push_back({plan});
  std::vector<VariantRun*> open;
  open.reserve(runs.size());
  for (auto& run : runs) open.push_back(&run);
  const TargetSpec& spec = evaluator.spec();
  ask_more(evaluator, recorded, open,
           [&](const Plan& plan) { return own_oracles(catalog, own, plan, spec); });
  std::erase_if(open, [](const VariantRun* r) { return r->judged.result != RunResult::pass; });
  ask_more(evaluator, recorded, open,
           [&](const Plan&) { return further_oracles(catalog, own, spec); });
  std::vector<RunJudgement> out;
  out.reserve(runs.size());
  for (auto& run : runs) out.push_back(std::move(run.judged));
  return out;
}

}  // namespace redzone::campaign

// Workers with the puzzles, and the oracles' verdicts on plans that run in them.
#pragma once

#include <optional>
#include <vector>

#include "campaign/evaluator.h"
#include "exec/pool.h"
#include "oracles/catalog.h"

namespace redzone::puzzles {

// Long enough for any trial of a puzzle on a busy machine, except those that never end.
inline constexpr std::chrono::milliseconds kDeadline{10000};

inline exec::PoolOptions puzzle_pool(std::size_t warm) {
  exec::PoolOptions options;
  options.command = {{PUZZLE_WORKER}};
  options.workers = warm;
  options.spares = 2;
  options.has_zygote = true;
  return options;
}

struct Shown {
  const Oracle* oracle = nullptr;
  Verdict verdict;
};

// The most specific failure of `plan`, each trial in a fresh worker: direct evidence first, then
// comparisons along one axis; for a plan that is not blocking, also whether the order of two
// operations or the launch mode is the cause (as in triage). Nothing when all oracles pass.
inline std::optional<Shown> most_specific(const oracles::Catalog& catalog,
                                          campaign::Evaluator& evaluator, const Plan& plan) {
  for (const auto* group : {&catalog.direct(), &catalog.comparing()}) {
    std::vector<campaign::Question> questions;
    for (const auto& oracle : *group) questions.push_back({oracle.get(), plan});
    const auto answers = evaluator.ask(questions);
    std::optional<Shown> best;
    for (const auto cause : {FailKind::order, FailKind::async})
      for (std::size_t i = 0; i < answers.size(); ++i)
        if (answers[i].verdict.failed() && answers[i].verdict.signature.kind == cause)
          return Shown{questions[i].oracle, answers[i].verdict};
    for (std::size_t i = 0; i < answers.size(); ++i) {
      const Verdict& v = answers[i].verdict;
      if (v.failed() && (!best || more_specific(v.signature.kind, best->verdict.signature.kind)))
        best = Shown{questions[i].oracle, v};
    }
    if (best) return best;
  }
  return std::nullopt;
}

}  // namespace redzone::puzzles

// The runner over an oracle and worker processes.
#pragma once

#include "bisect/runner.h"
#include "campaign/evaluator.h"

namespace redzone::bisect {

// Borrows both, which must outlive it. What counts as the same failure is campaign::same_bug().
class EvaluatorRunner final : public Runner {
 public:
  EvaluatorRunner(campaign::Evaluator& evaluator, const Oracle& oracle, Signature signature)
      : evaluator_(evaluator), oracle_(oracle), signature_(std::move(signature)) {}

  std::vector<Counts> run(std::span<const Request> requests) override;

 private:
  campaign::Evaluator& evaluator_;
  const Oracle& oracle_;
  Signature signature_;
};

}  // namespace redzone::bisect

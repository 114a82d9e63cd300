// Runner that uses an oracle and worker processes.
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "bisect/runner.h"
#include "campaign/variant_runs.h"

namespace redzone::bisect {

// Borrows all arguments but the signature. campaign::judge_variants() judges the runs.
class EvaluatorRunner final : public Runner {
 public:
  EvaluatorRunner(campaign::Evaluator& evaluator, const oracles::Catalog& catalog,
                  const Oracle& oracle, Signature signature)
      : evaluator_(evaluator),
        catalog_(catalog),
        oracle_(oracle),
        signature_(std::move(signature)) {}

  // The first failure with another signature, and the plan that shows it.
  const std::optional<campaign::Alarm>& other() const { return other_; }
  // True if any run failed as recorded.
  bool met_recorded() const { return met_recorded_; }

  std::vector<Counts> run(std::span<const Request> requests) override;

 private:
  campaign::Evaluator& evaluator_;
  const oracles::Catalog& catalog_;
  const Oracle& oracle_;
  Signature signature_;
  std::optional<campaign::Alarm> other_;
  bool met_recorded_ = false;
};

}  // namespace redzone::bisect

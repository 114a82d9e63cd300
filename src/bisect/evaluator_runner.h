// The runner over an oracle and worker processes.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "bisect/runner.h"
#include "campaign/run_judgement.h"

namespace redzone::bisect {

// Borrows all but the signature. Runs are judged by campaign::judge_run(). The target's reference
// is asked only where all others pass: most runs of a bisection fail, and a fault costs a worker.
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
  // Whether any run failed as recorded.
  bool met_recorded() const { return met_recorded_; }

  std::vector<Counts> run(std::span<const Request> requests) override;

 private:
  struct Run {
    const Plan* plan = nullptr;
    std::size_t request = 0;  // index
    std::vector<campaign::Answer> answers = {};
    campaign::RunJudgement judged = {};
  };
  using OraclesOf = std::function<std::vector<const Oracle*>(const Plan&)>;
  // Adds the answers of more oracles to those of each run, and judges it anew.
  void ask(std::span<Run* const> runs, const OraclesOf& oracles_of);

  campaign::Evaluator& evaluator_;
  const oracles::Catalog& catalog_;
  const Oracle& oracle_;
  Signature signature_;
  std::optional<campaign::Alarm> other_;
  bool met_recorded_ = false;
};

}  // namespace redzone::bisect

// One puzzle under one way to run it: the cells of the tables of modes and of launchers.
#pragma once

#include <chrono>
#include <vector>

#include "bench/setup.h"
#include "core/oracle.h"
#include "exec/executor.h"

namespace redzone::bench {

// A tool makes trials slower, but the plans of a cell are small, and few of them hang.
inline constexpr int kToolSlowdown = 4;

// What a careful test of one run sees: a fault, a dirty canary, a wrong number. Nothing that a
// launcher tells of its scratch.
class OneRun final : public Oracle {
 public:
  std::string_view name() const override { return "one-run"; }
  std::vector<TrialSpec> expand(const Plan& plan, const TargetSpec&) const override {
    return {{plan.mode, {}, true}};
  }
  Verdict judge(const Plan& plan, const TargetSpec&,
                std::span<const Observation> observations) const override;
};

struct Way {
  ModeColumn column;
  const Oracle* oracle = nullptr;
  Launch launch = Launch::async;
  Allocator allocator = Allocator::guard;
};

// Small, so that the slowest tool ends: the same limits as on the host device, but for the memory
// that far offsets take. The same for the same arguments.
std::vector<Plan> small_plans(const TargetSpec& spec, std::size_t count);

// One plan at a time, until all have run or `most` is over.
ModeCell measure_cell(const Setup& setup, exec::Executor& executor, const TargetSpec& spec,
                      const std::vector<Plan>& plans, const Way& way,
                      std::chrono::milliseconds most);

// A tool takes seconds to come up, which is not the price of a puzzle.
void warm_up(const Setup& setup, exec::Executor& executor, const TargetSpec& spec,
             const std::vector<Way>& ways);

}  // namespace redzone::bench

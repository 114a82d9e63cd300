// One puzzle in one run mode: the cells of the tables of modes and of launchers.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "bench/setup.h"
#include "core/oracle.h"
#include "exec/executor.h"

namespace redzone::bench {

// A tool makes trials slower, but the plans of a cell are small, and few of them hang.
inline constexpr int kToolSlowdown = 4;

// What a careful test sees in one run: a fault, a dirty canary, a wrong number. Ignores what a
// launcher reports about its scratch.
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
  std::optional<std::uint64_t> schedule_seed = {};  // instead of the plan's
};

// Plans small enough for the slowest tool: the limits of the host device, except for the memory
// that far offsets take. Deterministic in its arguments.
std::vector<Plan> small_plans(const TargetSpec& spec, std::size_t count);

// Runs one plan at a time until all have run or `most` is over.
ModeCell measure_cell(const Setup& setup, exec::Executor& executor, const TargetSpec& spec,
                      const std::vector<Plan>& plans, const Way& way,
                      std::chrono::milliseconds most);

// Starts the tool before it is timed: the seconds that takes are not a puzzle's cost.
void warm_up(const Setup& setup, exec::Executor& executor, const TargetSpec& spec,
             const std::vector<Way>& ways);

}  // namespace redzone::bench

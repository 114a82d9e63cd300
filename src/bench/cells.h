// Runs one puzzle in one run mode: a cell in the tables of modes and of launchers.
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

// Detects what a careful test detects in one run: a fault, a dirty canary, a wrong number. Ignores
// a launcher's reports about its scratch.
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
  std::optional<std::uint64_t> schedule_seed = {};  // used instead of the plan's
};

// Plans small enough for the slowest tool: they use the limits of the host device, except for the
// memory that far offsets take. Deterministic in its arguments.
std::vector<Plan> small_plans(const TargetSpec& spec, std::size_t count);

// Runs one plan at a time until all have run or `most` has passed.
ModeCell measure_cell(const Setup& setup, exec::Executor& executor, const TargetSpec& spec,
                      const std::vector<Plan>& plans, const Way& way,
                      std::chrono::milliseconds most);

// Starts the tool before the measurement, because its start takes seconds that are not a puzzle's
// cost.
void warm_up(const Setup& setup, exec::Executor& executor, const TargetSpec& spec,
             const std::vector<Way>& ways);

}  // namespace redzone::bench

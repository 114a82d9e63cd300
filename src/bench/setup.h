// The dependencies and time limits of the benchmark. Set by the command.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <set>

#include "bench/report.h"
#include "campaign/campaign.h"
#include "exec/pool.h"
#include "target/registry.h"

namespace redzone::bench {

enum class Part : std::uint8_t {
  throughput,
  detection,
  faults,
  modes,
  launcher,
  tma,
  minute,
  python,
  guard
};

struct Effort {
  bool quick = false;                         // fewer plans and puzzles
  int rounds = 3;                             // the columns take turns
  std::chrono::milliseconds slice{800};       // of one column in one round
  std::chrono::milliseconds memcheck{12000};  // of one memcheck column; it may end within the list
  std::vector<std::uint64_t> seeds{1, 2};
  std::chrono::milliseconds detection{60000};       // of one puzzle and seed
  std::chrono::milliseconds all_detection{150000};  // of all campaigns; then the rest is skipped
  std::size_t faults = 11;
  std::size_t mode_trials = 50;                   // of one puzzle in one mode
  std::chrono::milliseconds mode_cell{2500};      // of a cell; then the rest is skipped
  std::size_t launcher_trials = 200;              // of one mistake of a launcher in one column
  std::chrono::milliseconds launcher_cell{5000};  // of a cell; then the rest is skipped
  std::uint64_t correct_calls = 20000;            // of each correct launcher
  std::chrono::milliseconds correct{300000};      // of these calls; then the rest is skipped
  std::uint64_t descriptors = 1000000;            // TMA's
  std::chrono::milliseconds minute{60000};        // of the campaign over all puzzles
  std::chrono::milliseconds kernels{20000};       // of each campaign over the kernels
  std::vector<std::string> puzzles = {};          // of `detection` and `modes`; all if empty
  // All but `guard`, which takes many minutes.
  std::set<Part> parts = {Part::throughput, Part::detection, Part::faults, Part::modes,
                          Part::launcher,   Part::tma,       Part::minute, Part::python};
  std::size_t python_plans = 24;                // of each target of Python
  std::size_t guard_runs = 5;                   // of each program in each way
  std::chrono::milliseconds guard_run{120000};  // of one process; then the way is skipped
};

struct Setup {
  DeviceKind device;
  const Registry& registry;
  const oracles::Catalog& catalog;
  exec::PoolOptions pool = {};               // the workers of a campaign
  std::chrono::milliseconds deadline{2000};  // of a trial
  campaign::TriageOptions triage = {};
  campaign::SimplifyFor simplify = {};
  // The plans that a campaign with that seed generates.
  std::function<std::unique_ptr<campaign::PlanSource>(const TargetSpec& spec, std::uint64_t seed)>
      plans = {};
  // The command that runs serve_bare_loop() for a workload of this name.
  std::function<exec::WorkerCommand(std::string_view workload)> bare_command = {};
  // compute-sanitizer, its tool and its flags, as a prefix of a command; or why it is unavailable.
  std::vector<std::string> memcheck_prefix = {};
  std::string why_no_memcheck = {};
  // Starts a long-lived worker under that tool, or returns the reason why it cannot.
  std::function<Result<std::unique_ptr<exec::Executor>>(SanitizerTool)> sanitized = {};
  // Measures the first minute, on engines of its own.
  std::function<Result<Minute>()> minute = {};
  // Measures the Python files that ship, in workers of their own.
  std::function<Result<PythonCalls>()> python = {};
  // Measures what the guard costs whole programs.
  std::function<Result<GuardCost>()> guard = {};
  // The setup of the dry-run device, for the part `launcher`; outlives this.
  const Setup* none = nullptr;
  std::function<bool()> stop = {};                   // Ctrl-C
  std::function<void(const std::string&)> say = {};  // receives a progress line
  Effort effort = {};
};

// All of them; with `quick` a few, evenly spaced.
std::vector<const TargetEntry*> enough_of(const std::vector<const TargetEntry*>& puzzles,
                                          bool quick);
// The registry's puzzles for the device, by name: those of the effort, or all; with `quick` a few
// of them.
std::vector<const TargetEntry*> puzzles_to_find(const Setup& setup);

}  // namespace redzone::bench

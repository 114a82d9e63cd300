// Dependencies and time limits of the benchmark, set by the command.
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
  bool quick = false;                    // fewer plans and puzzles
  int rounds = 3;                        // the columns take turns
  std::chrono::milliseconds slice{800};  // time of one column in one round
  // Time of one memcheck column; it may end within the list
  std::chrono::milliseconds memcheck{12000};
  std::vector<std::uint64_t> seeds{1, 2};
  std::chrono::milliseconds detection{60000};  // limit for one puzzle and seed
  // Limit for all campaigns; the rest is then skipped
  std::chrono::milliseconds all_detection{150000};
  std::size_t faults = 11;
  std::size_t mode_trials = 50;               // plans of one puzzle in one mode
  std::chrono::milliseconds mode_cell{2500};  // limit for one cell; the rest is then skipped
  std::size_t launcher_trials = 200;          // plans of one mistake of a launcher in one column
  std::chrono::milliseconds launcher_cell{5000};  // limit for one cell; the rest is then skipped
  std::uint64_t correct_calls = 20000;            // number of calls of each correct launcher
  std::chrono::milliseconds correct{300000};      // limit for these calls; the rest is then skipped
  std::uint64_t descriptors = 1000000;            // number of TMA descriptors
  std::chrono::milliseconds minute{60000};        // time of the campaign over all puzzles
  std::chrono::milliseconds kernels{20000};       // time of each campaign over the kernels
  std::vector<std::string> puzzles = {};          // for `detection` and `modes`; all if empty
  // All parts except `guard`, which takes many minutes.
  std::set<Part> parts = {Part::throughput, Part::detection, Part::faults, Part::modes,
                          Part::launcher,   Part::tma,       Part::minute, Part::python};
  std::size_t python_plans = 24;                // plans of each Python target
  std::size_t guard_runs = 5;                   // runs of each program in each way
  std::chrono::milliseconds guard_run{120000};  // limit for one process; the way is then skipped
};

struct Setup {
  DeviceKind device;
  const Registry& registry;
  const oracles::Catalog& catalog;
  exec::PoolOptions pool = {};               // options for the workers of a campaign
  std::chrono::milliseconds deadline{2000};  // deadline of a trial
  campaign::TriageOptions triage = {};
  campaign::SimplifyFor simplify = {};
  // Returns the plans that a campaign with this seed generates.
  std::function<std::unique_ptr<campaign::PlanSource>(const TargetSpec& spec, std::uint64_t seed)>
      plans = {};
  // Returns the command that runs serve_bare_loop() for a workload of this name.
  std::function<exec::WorkerCommand(std::string_view workload)> bare_command = {};
  // The prefix that runs a command under compute-sanitizer memcheck, or why memcheck is
  // unavailable.
  std::vector<std::string> memcheck_prefix = {};
  std::string why_no_memcheck = {};
  // Starts a long-lived worker under this tool, or returns the reason why it cannot.
  std::function<Result<std::unique_ptr<exec::Executor>>(SanitizerTool)> sanitized = {};
  // Measures the first minute, on new engines.
  std::function<Result<Minute>()> minute = {};
  // Measures the shipped Python files, in separate workers.
  std::function<Result<PythonCalls>()> python = {};
  // Measures the cost of the guard for whole programs.
  std::function<Result<GuardCost>()> guard = {};
  // The setup of the dry-run device, for the part `launcher`; must outlive this object.
  const Setup* none = nullptr;
  std::function<bool()> stop = {};                   // true after Ctrl-C
  std::function<void(const std::string&)> say = {};  // receives a progress line
  Effort effort = {};
};

// All puzzles; with `quick` a few, evenly spaced.
std::vector<const TargetEntry*> enough_of(const std::vector<const TargetEntry*>& puzzles,
                                          bool quick);
// The registry's puzzles for the device, by name: those that the effort lists, or all; with `quick`
// a few of all.
std::vector<const TargetEntry*> puzzles_to_find(const Setup& setup);

}  // namespace redzone::bench

// What `redzone guard` costs whole programs on a GPU: the time of a unit of their work and their
// device memory, plain and in other ways to run them, each time in a process of its own.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/limited_run.h"
#include "bench/report.h"

namespace redzone::bench {

// One of bench/guard. It prints what parse_figures() reads, and exits with 0.
struct GuardProgram {
  std::string name, what;
  std::vector<std::string> command;
  bool has_framework = false;  // it allocates through PyTorch
  std::string why_not = {};    // why it cannot be run; "" if it can
};

struct GuardWay {
  ModeColumn column;
  std::vector<std::string> before;  // the words before those of the program
  bool of_framework = false;        // says nothing of programs without one
  std::string why_not = {};         // why there is no such way here
  std::string allocator = {};       // that a program with a framework must have; "": any
};

// A line of a program: {"unit": "step", "us": 2460.1, "peak_bytes": 1048576, "with": "torch 2.11"}.
// `us`: of one unit. `peak_bytes`: the most device memory in use, of the whole device. `with`:
// versions; "allocator": PyTorch's. Both may be left out.
struct ProgramFigures {
  std::string unit, with, allocator;
  double us = 0, peak_mib = 0;
};
// The last such line of the output; empty if there is none.
std::optional<ProgramFigures> parse_figures(std::string_view output);

struct GuardRuns {
  std::vector<GuardProgram> programs;
  std::vector<GuardWay> ways;  // the first is the program alone
  std::size_t runs = 5;        // of each program in each way
  std::function<Result<LimitedRun>(const std::vector<std::string>& words)> run;
  std::function<bool()> stop;
  std::function<void(const std::string&)> say;
  std::function<void(const GuardCost&)> keep;  // gets the table after each run
};

// Adds to the table what it lacks; the ways take turns. A way in which a program fails is not tried
// again, and none but the first where the program fails alone. `cost` is empty, or of earlier runs
// of the same ways: then what failed is tried again. Rows of other programs stay. A run with other
// versions than those of the row counts as failed.
void measure_guard_cost(const GuardRuns& runs, GuardCost& cost);

// The table in a result of report_json(); a usage error if it has none.
Result<GuardCost> guard_cost_of(std::string_view json);

}  // namespace redzone::bench

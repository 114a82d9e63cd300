// The cost of `redzone guard` for whole programs on a GPU: the time per unit of their work and
// their device memory, without the guard and in other ways to run them, each time in a new process.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/limited_run.h"
#include "bench/report.h"

namespace redzone::bench {

// A program of bench/guard. It prints the line that parse_figures() reads, and exits with 0.
struct GuardProgram {
  std::string name, what;
  std::vector<std::string> command;
  bool has_framework = false;  // it allocates through PyTorch
  std::string why_not = {};    // why it cannot be run; "" if it can
};

struct GuardWay {
  ModeColumn column;
  std::vector<std::string> before;  // the words before those of the program
  bool of_framework = false;        // not applicable to programs without a framework
  std::string why_not = {};         // why this way is unavailable here; "" if it is available
  std::string allocator = {};       // required allocator of programs with a framework; "": any
};

// A line of a program: {"unit": "step", "us": 2460.1, "peak_bytes": 1048576, "with": "torch 2.11"}.
// `us`: time of one unit. `peak_bytes`: maximum device memory in use, by all processes of the
// device. `with`: versions. "allocator": PyTorch's allocator. The last two are optional.
struct ProgramFigures {
  std::string unit, with, allocator;
  double us = 0, peak_mib = 0;
};
// The figures in the last such line of the output; nullopt if there is none.
std::optional<ProgramFigures> parse_figures(std::string_view output);

struct GuardRuns {
  std::vector<GuardProgram> programs;
  std::vector<GuardWay> ways;  // the first is the program alone
  std::size_t runs = 5;        // number of runs of each program in each way
  std::function<Result<LimitedRun>(const std::vector<std::string>& words)> run;
  std::function<bool()> stop;
  std::function<void(const std::string&)> say;
  std::function<void(const GuardCost&)> keep;  // called with the table after each run
};

// Adds the missing runs to the table; the ways take turns. A way in which a program fails is not
// tried again, and if the program fails alone, only the first way is tried. `cost` is empty, or
// comes from earlier runs of the same ways; then failed cells are tried again. Rows of other
// programs stay unchanged. A run with other versions than those of its row counts as failed.
void measure_guard_cost(const GuardRuns& runs, GuardCost& cost);

// The table in a result of report_json(); a usage error if the result has none.
Result<GuardCost> guard_cost_of(std::string_view json);

}  // namespace redzone::bench

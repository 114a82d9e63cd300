// The programs of bench/guard and the ways to run them on this machine.
#pragma once

#include "bench/guard_cost.h"
#include "bench/run.h"
#include "bench/setup.h"

namespace redzone::bench {

// Those of `wanted`, all if it is empty; a usage error names one that there is not. `python`: the
// interpreter, or why there is none.
Result<std::vector<GuardProgram>> guard_programs(const std::vector<std::string>& wanted,
                                                 const Result<std::string>& python);
// `redzone`: the command. The prefix of memcheck is empty where it is not available, with the
// reason.
std::vector<GuardWay> guard_ways(const std::string& redzone,
                                 const std::vector<std::string>& memcheck_prefix,
                                 const std::string& why_no_memcheck);

// The commit of a build that was not told it.
inline constexpr std::string_view kUnknownCommit = "unknown";

// The table of options.earlier, to which this run can add. A usage error if it is of another
// commit, machine or effort than the report, or of other ways, or if the commit is not known.
Result<GuardCost> earlier_cost(const std::string& earlier, const Report& report,
                               const std::vector<GuardWay>& ways);

// Gives options.keep the report with the table so far after each process.
Result<GuardCost> measure_guard(const RunOptions& options, const Setup& setup,
                                const Report& report);

}  // namespace redzone::bench

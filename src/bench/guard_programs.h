// The programs of bench/guard and the ways to run them on this machine.
#pragma once

#include "bench/guard_cost.h"
#include "bench/run.h"
#include "bench/setup.h"

namespace redzone::bench {

// The programs named in `wanted`, or all if it is empty; a usage error for an unknown name.
// `python`: the interpreter, or the reason why there is none.
Result<std::vector<GuardProgram>> guard_programs(const std::vector<std::string>& wanted,
                                                 const Result<std::string>& python);
// `redzone`: the command. `memcheck_prefix` is empty if memcheck is not available;
// `why_no_memcheck` is then the reason.
std::vector<GuardWay> guard_ways(const std::string& redzone,
                                 const std::vector<std::string>& memcheck_prefix,
                                 const std::string& why_no_memcheck);

// The commit of a build for which none was given.
inline constexpr std::string_view kUnknownCommit = "unknown";

// The table of options.earlier, to which this run can add. A usage error if the table comes from
// another commit, machine or effort than the report, or has other ways, or if the commit is
// unknown.
Result<GuardCost> earlier_cost(const std::string& earlier, const Report& report,
                               const std::vector<GuardWay>& ways);

// Passes the report with the table so far to options.keep after each process.
Result<GuardCost> measure_guard(const RunOptions& options, const Setup& setup,
                                const Report& report);

}  // namespace redzone::bench

// The command line that runs a process under compute-sanitizer.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/plan.h"

namespace redzone::sanitizer {

// Number of records after which a tool stops printing. A worker that has printed half of them is
// replaced, so that each trial can print at least half.
inline constexpr std::size_t kPrintLimit = 1000;

// `compute_sanitizer` and its flags, as a prefix of the command of the watched process. The tool's
// output goes to `log`. `tool` must not be none. The path of the process must not be
// /proc/self/exe, because in the tool's process this is the tool.
//
// A faulty kernel is ended but its context survives, so that one process can serve many trials.
// Reports of API errors are disabled, because targets provoke some on purpose and native trials
// detect them. For races the analysis is reported, with one record per pair of accesses, because
// there are thousands of hazards.
std::vector<std::string> command_prefix(const std::string& compute_sanitizer, SanitizerTool tool,
                                        const std::filesystem::path& log);

}  // namespace redzone::sanitizer

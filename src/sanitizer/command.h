// How a process is put under compute-sanitizer.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/plan.h"

namespace redzone::sanitizer {

// Records that a tool prints before it falls silent. A worker that has printed half of them is
// replaced, so that no trial has less than half to itself.
inline constexpr std::size_t kPrintLimit = 1000;

// `compute_sanitizer` and its flags, to stand before the command of the process that it watches,
// with its text going to `log`. `tool` is not none. The path of the process must be a real one: in
// the tool's process /proc/self/exe is the tool.
//
// A kernel that does something wrong is ended and its context lives on, so that one process serves
// many trials. Errors of API calls are not asked for: targets provoke some on purpose, and native
// trials see them. Of races the analysis is reported, one record for each pair of accesses: the
// hazards behind it are thousands.
std::vector<std::string> command_prefix(const std::string& compute_sanitizer, SanitizerTool tool,
                                        const std::filesystem::path& log);

}  // namespace redzone::sanitizer

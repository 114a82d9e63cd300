// The driver's core dumps of kernels that caused an error. They name the kernel and the access.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "guard/process_record.h"

namespace redzone::guard {

// The environment variables that make each process of a program write a core dump to the folder at
// an error and continue. Empty if the environment sets any variable for core dumps already, because
// the user has then chosen whether and where to write them.
std::vector<std::pair<std::string, std::string>> dump_environment(
    const std::filesystem::path& folder);

// Completes the error of each process with a core dump in its folder from the output of cuda-gdb (a
// path). Takes at most two minutes for all processes. False if Ctrl-C ended it early.
bool read_core_dumps(std::vector<ProcessRecord>& processes, const std::string& cuda_gdb);

// Adds the output of cuda-gdb to the first device error.
void complete(ProcessRecord& process, const std::string& output);

}  // namespace redzone::guard

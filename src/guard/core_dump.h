// The driver's core dumps of kernels that met an error, which name the kernel and the access.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "guard/process_record.h"

namespace redzone::guard {

// What the environment of a program must have, so that each of its processes writes a core dump to
// the folder at an error. The processes live on. Empty if the environment says
// anything of core dumps already: whether there are any, and where they go, is the user's choice
// then.
std::vector<std::pair<std::string, std::string>> dump_environment(
    const std::filesystem::path& folder);

// Completes the error of each process with a core dump in its folder: what cuda-gdb, at this path,
// prints of it, within two minutes for all of them.
void read_core_dumps(std::vector<ProcessRecord>& processes, const std::string& cuda_gdb);

// Puts what cuda-gdb has printed into the first error of the device.
void complete(ProcessRecord& process, const std::string& output);

}  // namespace redzone::guard

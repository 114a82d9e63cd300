// Parses cuda-gdb's output for the driver's core dump of a kernel.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/attribution.h"

namespace redzone::sanitizer {

// Environment variables that make the driver write a core dump when a kernel causes an error.
// Without the device's memory the file is small and written in a twentieth of a second.
inline constexpr const char* kDumpSwitch = "CUDA_ENABLE_COREDUMP_ON_EXCEPTION";
inline constexpr const char* kDumpFileVariable = "CUDA_COREDUMP_FILE";
inline constexpr const char* kDumpFlagsVariable = "CUDA_COREDUMP_GENERATION_FLAGS";
inline constexpr const char* kDumpFlags =
    "skip_nonrelocated_elf_images,skip_global_memory,skip_shared_memory,skip_local_memory,"
    "skip_constbank_memory";

inline constexpr std::string_view kCoreDump = "core dump";  // Attribution::source

// The words that run cuda-gdb, at this path, with these commands: without the user's settings, and
// without what is preloaded into this process.
std::vector<std::string> cuda_gdb_words(const std::string& cuda_gdb,
                                        std::span<const std::string> commands);

// Extracts exception, kernel and line, as far as present. Accepts any text.
Attribution read_cuda_gdb(std::string_view output);

// A demangled name without the return type and the parameters, as in Attribution.
std::string_view bare_kernel(std::string_view name);

}  // namespace redzone::sanitizer

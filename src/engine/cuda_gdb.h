// Parses cuda-gdb's output for the driver's core dump of a kernel.
#pragma once

#include <string_view>

#include "core/attribution.h"

namespace redzone::engine {

inline constexpr std::string_view kCoreDump = "core dump";  // Attribution::source

// Exception, kernel and line, as far as present. Accepts any text.
Attribution read_cuda_gdb(std::string_view output);

}  // namespace redzone::engine

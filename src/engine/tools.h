// Finds programs of the CUDA toolkit.
#pragma once

#include <string>

namespace redzone::engine {

// Searches PATH, $CUDA_HOME, $CUDA_PATH and the toolkit's default folder; returns the program's
// path, "" if it is not found.
std::string find_tool(const std::string& name);

}  // namespace redzone::engine

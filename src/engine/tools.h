// Finds programs of the CUDA toolkit.
#pragma once

#include <string>

namespace redzone::engine {

// The program's path, from PATH, $CUDA_HOME, $CUDA_PATH or the toolkit's default folder; "" if not
// found.
std::string find_tool(const std::string& name);

}  // namespace redzone::engine

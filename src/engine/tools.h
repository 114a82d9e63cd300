// Programs of the CUDA toolkit.
#pragma once

#include <string>

namespace redzone::engine {

// Its path, from PATH, $CUDA_HOME, $CUDA_PATH or the usual folder of the toolkit; "" when there is
// none.
std::string find_tool(const std::string& name);

}  // namespace redzone::engine

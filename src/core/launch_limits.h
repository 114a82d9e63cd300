// Launch limits of a device. The defaults are those of compute capability 9.0 (CUDA C++
// Programming Guide, "Technical Specifications per Compute Capability").
#pragma once

#include <cstdint>

namespace redzone {

struct LaunchLimits {
  std::int64_t grid[3] = {2147483647, 65535, 65535};
  std::int64_t block[3] = {1024, 1024, 64};
  std::int64_t threads_per_block = 1024;
  std::int64_t shared_bytes = 232448;  // opt-in maximum of one block
  std::int64_t cluster = 16;           // blocks of a cluster; above 8 a kernel has to opt in
};

}  // namespace redzone

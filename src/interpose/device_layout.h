// Sizes in the layout of guarded device memory, and the byte that marks canaries.
#pragma once

#include <cstddef>

namespace redzone::interpose {

// Bytes of canary on each side of a block; fewer if its region has no room for them.
inline constexpr std::size_t kZoneBytes = 256;
inline constexpr unsigned char kCanaryByte = 0xc5;

// Sizes of cells of shared slots are powers of two between these limits.
inline constexpr std::size_t kSmallestCell = 1024;
inline constexpr std::size_t kLargestCell = 128 * 1024;

// Number of freed blocks whose backtraces are kept.
inline constexpr std::size_t kFreedKept = 4096;

}  // namespace redzone::interpose

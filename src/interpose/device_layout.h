// Numbers of the layout of guarded device memory, and bytes that mark it.
#pragma once

#include <cstddef>

namespace redzone::interpose {

// Bytes of canary on each side of a block, where its region has so many.
inline constexpr std::size_t kZoneBytes = 256;
inline constexpr unsigned char kCanaryByte = 0xc5;

// Cells of shared slots have powers of two between these sizes.
inline constexpr std::size_t kSmallestCell = 1024;
inline constexpr std::size_t kLargestCell = 128 * 1024;

// Freed blocks of which the backtraces are kept.
inline constexpr std::size_t kFreedKept = 4096;

}  // namespace redzone::interpose

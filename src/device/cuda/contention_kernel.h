// What the kernel that keeps the device busy (contention_kernel.cu) and its launch agree on.
#pragma once

namespace redzone::device::cuda {

inline constexpr unsigned kContentionThreads = 256;
inline constexpr unsigned kContentionWords = 256;  // of 4 bytes: 8 cache lines
inline constexpr unsigned kContentionStride = 4;   // words from one that is added to to the next
inline constexpr unsigned kContentionAdditions =
    16;  // of each thread between two looks at the time

}  // namespace redzone::device::cuda

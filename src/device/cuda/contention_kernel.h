// Constants that the kernel which keeps the device busy (contention_kernel.cu) and its launch
// share.
#pragma once

namespace redzone::device::cuda {

inline constexpr unsigned kContentionThreads = 256;
inline constexpr unsigned kContentionWords = 256;     // words of 4 bytes: 8 cache lines
inline constexpr unsigned kContentionStride = 4;      // words between two consecutive additions
inline constexpr unsigned kContentionAdditions = 16;  // per thread between two reads of the time

}  // namespace redzone::device::cuda

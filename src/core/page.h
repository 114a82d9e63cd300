// The size of a page of the host's memory.
#pragma once

#include <cstddef>

namespace redzone {

// Page size of x86-64 Linux: the smallest unit that can be mapped or protected.
inline constexpr std::size_t kPageBytes = 4096;

}  // namespace redzone

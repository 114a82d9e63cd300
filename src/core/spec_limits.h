// Limits of a target's spec.
#pragma once

#include <cstddef>

namespace redzone {

// The generator keeps sets of dims as bits of 64.
inline constexpr std::size_t kMostDims = 64;

}  // namespace redzone

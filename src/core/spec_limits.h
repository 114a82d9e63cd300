// Limits of a target's spec: lookups are linear, and names become parts of file names.
#pragma once

#include <cstddef>

namespace redzone {

// The generator stores sets of dims as 64-bit masks.
inline constexpr std::size_t kMostDims = 64;
inline constexpr std::size_t kMostRank = 5;  // of a tensor, as <redzone/spec.h> documents
inline constexpr std::size_t kMostKnobs = 256, kMostTensors = 256;
inline constexpr std::size_t kMostListedValues = 1024;  // of a knob, or of a dim
inline constexpr std::size_t kMostNameBytes = 200;      // of a target, dim, knob or tensor

}  // namespace redzone

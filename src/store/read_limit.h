// How large a store may be that is read.
#pragma once

#include <cstdint>

namespace redzone::store {

// Reading copies the whole file into memory; a larger one can only be written to. Far above any
// store that Redzone has filled.
inline constexpr std::int64_t kMostReadBytes = std::int64_t{2} << 30;

}  // namespace redzone::store

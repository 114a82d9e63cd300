// How large a store may be.
#pragma once

#include <cstdint>

namespace redzone::store {

// Reading copies the whole file into memory, so none is written beyond that. Far above any store
// that Redzone has filled. A larger one that comes from elsewhere can be opened for writing.
inline constexpr std::int64_t kMostReadBytes = std::int64_t{2} << 30;

}  // namespace redzone::store

// Maximum size of a store.
#pragma once

#include <cstdint>

namespace redzone::store {

// Reading copies the whole file into memory, so no store is written beyond this size. Far above any
// store that Redzone has filled. A larger store from elsewhere can be opened for writing.
inline constexpr std::int64_t kMostReadBytes = std::int64_t{2} << 30;

}  // namespace redzone::store

// Detects strides that were truncated by a 32-bit product.
#pragma once

#include <cstdint>
#include <optional>

#include "tma/descriptor.h"

namespace redzone::tma {

// The probable intended value of a stride that was truncated to 32 bits: the product of the dims
// below (or of the stride below and its dim) in elements or bytes, wrapped as int32 or uint32 and
// then widened. In bytes. Nullopt if the stride is not such a value, or if nothing was lost. `dim`:
// 1..rank-1.
std::optional<std::uint64_t> stride_before_overflow(const Descriptor& descriptor,
                                                    std::uint32_t dim);

}  // namespace redzone::tma

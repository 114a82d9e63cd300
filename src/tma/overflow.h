// Strides that came out of a product in 32 bits.
#pragma once

#include <cstdint>
#include <optional>

#include "tma/descriptor.h"

namespace redzone::tma {

// What a stride was probably meant to be, when it is what a 32-bit product leaves of that: the
// product of the dims below (or of the stride below and its dim) in elements or bytes, wrapped as
// int32 or uint32 and then widened. In bytes; nothing when the stride is no such value or when
// nothing was lost. `dim`: 1..rank-1.
std::optional<std::uint64_t> stride_before_overflow(const Descriptor& descriptor,
                                                    std::uint32_t dim);

}  // namespace redzone::tma

// The smallest descriptor that a predicate holds of.
#pragma once

#include <cstddef>
#include <functional>

#include "tma/descriptor.h"

namespace redzone::generators {

using DescriptorPredicate = std::function<bool(const tma::Descriptor&)>;

// Is `a` strictly simpler? Compares, the first difference deciding: im2col after tiled; the rank;
// the numbers of fields that are not at their plainest; then each field by its distance from the
// plainest value (the first enumerator, dims, boxes, element strides, channels and pixels 1,
// strides and corners and address 0). Entries beyond the rank do not count. There is no endless
// descent.
bool simpler(const tma::Descriptor& a, const tma::Descriptor& b);

// Greedy descent from `found`, of which the predicate holds, by simpler ones of which it holds,
// with at most `evaluations` calls of it. Entries beyond the rank become plain.
tma::Descriptor smallest_descriptor(const tma::Descriptor& found,
                                    const DescriptorPredicate& predicate,
                                    std::size_t evaluations = 5000);

}  // namespace redzone::generators

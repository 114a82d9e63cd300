// Finds the smallest descriptor that satisfies a predicate.
#pragma once

#include <cstddef>
#include <functional>

#include "tma/descriptor.h"

namespace redzone::generators {

using DescriptorPredicate = std::function<bool(const tma::Descriptor&)>;

// True if `a` is strictly simpler than `b`. Compares lexicographically: the kind (tiled before
// im2col); the rank; the number of fields that are not at their plainest value; then each field by
// its distance from the plainest value (the first enumerator; 1 for dims, boxes, element strides,
// channels and pixels; 0 for strides, corners and the address). Entries beyond the rank do not
// count. The order is well-founded.
bool simpler(const tma::Descriptor& a, const tma::Descriptor& b);

// Greedy descent from `found`, which must satisfy the predicate, through simpler descriptors that
// satisfy the predicate. Calls the predicate at most `evaluations` times. Entries beyond the rank
// are set to their plainest values.
tma::Descriptor smallest_descriptor(const tma::Descriptor& found,
                                    const DescriptorPredicate& predicate,
                                    std::size_t evaluations = 5000);

}  // namespace redzone::generators

// The halves of the generator of descriptors: a legal one, and one step over a boundary.
#pragma once

#include <cstdint>

#include "generators/internal/draw.h"
#include "tma/checker.h"

namespace redzone::generators {

// Bytes that base address and strides must be multiples of.
std::uint64_t tma_alignment(const tma::Descriptor& descriptor);

// The smallest number of elements along dim 0 that is a legal inner side of a box, and the largest;
// all multiples of the first are legal, too.
struct InnerBox {
  std::uint32_t step = 1, most = 256;
};
InnerBox inner_box(const tma::Descriptor& descriptor);

// Makes the outer sides of the box, or the pixels of a column, smaller until one load fits.
void fit_load(tma::Descriptor& descriptor);

// Breaks no rule that the driver forbids.
tma::Descriptor draw_legal_descriptor(Draw& draw);

// Makes a legal descriptor break `rule` and, of those that the driver forbids, no other. False, and
// the descriptor unchanged, where it cannot be made to (a swizzle's span without a swizzle).
bool break_rule(Draw& draw, tma::Rule rule, tma::Descriptor& descriptor);

}  // namespace redzone::generators

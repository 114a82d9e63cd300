// The two halves of the descriptor generator: drawing a legal one, and breaking one rule.
#pragma once

#include <cstdint>

#include "generators/internal/draw.h"
#include "tma/checker.h"

namespace redzone::generators {

// The base address and the strides must be multiples of this number of bytes.
std::uint64_t tma_alignment(const tma::Descriptor& descriptor);

// The smallest and the largest legal inner side of a box, in elements along dim 0. All multiples of
// `step` up to `most` are legal, too.
struct InnerBox {
  std::uint32_t step = 1, most = 256;
};
InnerBox inner_box(const tma::Descriptor& descriptor);

// Shrinks the outer sides of the box, or the number of pixels per column, until one load fits.
void fit_load(tma::Descriptor& descriptor);

// Draws a descriptor that breaks no rule that the driver enforces.
tma::Descriptor draw_legal_descriptor(Draw& draw);

// Makes a legal descriptor break `rule` and no other rule that the driver enforces. Returns false
// and leaves the descriptor unchanged if that is impossible (a rule on a swizzle's span for a
// descriptor without a swizzle).
bool break_rule(Draw& draw, tma::Rule rule, tma::Descriptor& descriptor);

}  // namespace redzone::generators

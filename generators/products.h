// Dims at which a product that a kernel or its launcher may compute passes a boundary: 2^8, 2^15,
// 2^16, 2^31, 2^32, or a limit of shared memory (those of a grid are such powers less one).
//
// Products are those of two or three dims; of a dim with a tile or with its number of tiles; a
// tensor's elements, bytes and strides; and the grids, shared memory and index products that the
// spec declares. Which of them a kernel computes, in how many bits, is not known unless the spec
// says so, so all are tried.
#pragma once

#include <functional>

#include "generators/internal/cost.h"
#include "generators/internal/space.h"

namespace redzone::generators {

class Draw;

// Not exact above 2^53. Throws what the functions of the spec throw.
using Product = std::function<double(const Dims&)>;

// The product is to be at least `bound`, or the last one below it.
struct ProductBoundary {
  Product product;
  double bound;
};

// Whether the product passes the bound when one dim takes the next value: from below it at `dims`
// itself or at the next smaller value of the dim.
bool at_boundary(const Space& space, const Dims& dims, const ProductBoundary& boundary);

// Draws dims that satisfy every constraint under `config` at a dense cost within `allowance`, and
// at which some product is at a boundary. Takes a bounded number of steps; false leaves `dims`,
// which has all dims of the spec, in an unspecified state.
bool draw_dims_at_boundary(Draw& draw, const Space& space, const Config& config,
                           const Cost& allowance, Dims& dims);

}  // namespace redzone::generators

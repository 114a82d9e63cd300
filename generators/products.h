// Draws dims at which a product that a kernel or its launcher may compute crosses a boundary: 2^8,
// 2^15, 2^16, 2^31, 2^32, or a limit of shared memory (limits of a grid are such powers minus one).
//
// The products are those of two or three dims; of a dim with a tile or with its number of tiles; a
// tensor's elements, bytes and strides; and the grids, shared memory and index products that the
// spec declares. Unless the spec declares which of them a kernel computes and in how many bits,
// this is unknown, so all are tried.
#pragma once

#include <functional>

#include "generators/internal/cost.h"
#include "generators/internal/space.h"

namespace redzone::generators {

class Draw;

// Not exact above 2^53. Throws any exception of the spec's functions.
using Product = std::function<double(const Dims&)>;

// A bound that the product should just reach or just miss.
struct ProductBoundary {
  Product product;
  double bound;
};

// True if the product crosses the bound between `dims` and the neighbouring value of one dim: the
// next larger one if the product is below the bound, else the next smaller one.
bool at_boundary(const Space& space, const Dims& dims, const ProductBoundary& boundary);

// Draws dims that satisfy every constraint under `config` at a dense cost within `allowance`, and
// at which some product is at a boundary. `dims` must have all dims of the spec. Takes a bounded
// number of steps. If false is returned, `dims` is in an unspecified state.
bool draw_dims_at_boundary(Draw& draw, const Space& space, const Config& config,
                           const Cost& allowance, Dims& dims);

}  // namespace redzone::generators

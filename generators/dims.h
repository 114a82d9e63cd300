// Values for the dims of a call, biased towards the boundaries where kernels break.
//
// Each dim takes: its smallest and largest value, 0 and 1, tile - 1, tile, tile + 1 and multiples
// of the tile with their neighbours, powers of two and multiples of 16 with their neighbours (so
// that the specialization classes {1, multiple of 16, other} are often crossed), mostly small
// values, and a log-uniform tail. Then structural constraints are repaired, and dims are reduced,
// the largest first, until the call fits the allowance.
#pragma once

#include "core/plan.h"
#include "generators/internal/cost.h"
#include "generators/internal/space.h"

namespace redzone::generators {

class Draw;

// A value of `dim` that is at most `limit`; the smallest value if all values exceed `limit`.
std::int64_t draw_dim(Draw& draw, const DimSpec& dim, std::int64_t limit);

// A value larger (smaller) than `from`: the neighbour, double (half), the next multiple of the tile
// or of 16 (the smallest value), or any. Returns `from` if it is the largest (smallest) value.
std::int64_t draw_larger(Draw& draw, const DimSpec& dim, std::int64_t from);
std::int64_t draw_smaller(Draw& draw, const DimSpec& dim, std::int64_t from);

// Draws each dim independently; ignores constraints.
Point draw_point(Draw& draw, const Space& space);
// Like draw_point(), but draws values near the largest.
Point draw_large_point(Draw& draw, const Space& space);

// Makes `dims` (which has all dims of the spec) satisfy every constraint under `config` at a dense
// cost within `allowance`, without changing the dims in `pinned`. Takes a bounded number of steps.
// If false is returned, `dims` is in an unspecified state.
bool settle(const Space& space, const Config& config, const Cost& allowance, DimSet pinned,
            Dims& dims);

}  // namespace redzone::generators

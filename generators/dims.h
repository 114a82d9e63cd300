// Values for the dims of a call, biased towards the boundaries where kernels break.
//
// Per dim: the smallest and largest value, 0 and 1, tile - 1, tile, tile + 1 and multiples of the
// tile with their neighbours, powers of two and multiples of 16 with theirs (the specialization
// classes {1, multiple of 16, other} are crossed all the time), small values mostly, and a
// log-uniform tail. Then structural constraints are repaired, and dims are made smaller, the
// largest first, until the call fits the allowance.
#pragma once

#include "core/plan.h"
#include "generators/internal/cost.h"
#include "generators/internal/space.h"

namespace redzone::generators {

class Draw;

// A value of `dim`, at most `limit` if the dim allows such a value, else its smallest.
std::int64_t draw_dim(Draw& draw, const DimSpec& dim, std::int64_t limit);

// A value larger (smaller) than `from`: a neighbour, the next power of two or multiple of the tile,
// double (half), or any. `from` itself when it is the largest (smallest).
std::int64_t draw_larger(Draw& draw, const DimSpec& dim, std::int64_t from);
std::int64_t draw_smaller(Draw& draw, const DimSpec& dim, std::int64_t from);

// Draws each dim by itself; ignores constraints.
Point draw_point(Draw& draw, const Space& space);
// The same, near the largest values.
Point draw_large_point(Draw& draw, const Space& space);

// Makes `dims` (which has all dims of the spec) satisfy every constraint under `config` at a dense
// cost within `allowance`, without changing the dims in `pinned`. Takes a bounded number of steps;
// false leaves `dims` in an unspecified state.
bool settle(const Space& space, const Config& config, const Cost& allowance, DimSet pinned,
            Dims& dims);

}  // namespace redzone::generators

// The order behind simpler().
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/plan.h"
#include "generators/internal/space.h"

namespace redzone::generators {

// Of plans with mixed alignments, in which a seed also says how tensors are aligned: the data seeds
// from 1 to this are simpler than any other, the smaller the simpler.
inline constexpr std::uint64_t kSmallSeeds = 16;

// The data seeds that a simplification of this plan tries.
std::vector<std::uint64_t> small_seeds(const Plan& plan);

// Compared lexicographically; see simpler() for the entries.
using Complexity = std::array<std::uint64_t, 10>;

// `plan` must be valid for the spec of `space`.
Complexity complexity_of(const Plan& plan, const Space& space);

// The magnitude of a stride for size-1 dims: unset, then 1 (as exchange formats normalize it), 0,
// and the rest by size.
std::uint64_t unit_stride_rank(const std::optional<std::int64_t>& stride);

}  // namespace redzone::generators

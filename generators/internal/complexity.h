// The order that simpler() uses.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/plan.h"
#include "generators/internal/space.h"

namespace redzone::generators {

// In plans with mixed alignments, where a seed also determines the tensors' alignment, data seeds
// from 1 to this value are simpler than any other, and a smaller seed is simpler.
inline constexpr std::uint64_t kSmallSeeds = 16;

// The data seeds that a simplification of this plan tries.
std::vector<std::uint64_t> small_seeds(const Plan& plan);

// Compared lexicographically; simpler() documents the entries.
using Complexity = std::array<std::uint64_t, 10>;

// `plan` must be valid for the spec of `space`.
Complexity complexity_of(const Plan& plan, const Space& space);

// The rank of a stride for size-1 dims: unset first, then 1 (exchange formats normalize to 1), then
// 0, then the rest by magnitude.
std::uint64_t unit_stride_rank(const std::optional<std::int64_t>& stride);

}  // namespace redzone::generators

// Delta debugging: finds a smallest subset of changes for which a property holds.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace redzone::bisect {

using Subset = std::vector<std::size_t>;  // indices, ascending

// Returns a 1-minimal subset of {0 .. n-1} for which `holds` returns true: without any one of its
// elements `holds` returns false. ddmin of A. Zeller and R. Hildebrandt, "Simplifying and isolating
// failure-inducing input", 2002. `holds` must return true for the whole set; it is not called with
// the empty set.
Subset smallest_set(std::size_t n, const std::function<bool(const Subset&)>& holds);

// The elements of {0 .. n-1} that are not in `subset`.
Subset complement(std::size_t n, const Subset& subset);

}  // namespace redzone::bisect

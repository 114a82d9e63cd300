// Delta debugging: the smallest part of a set of changes that makes a difference.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace redzone::bisect {

using Subset = std::vector<std::size_t>;  // indices, ascending

// A subset of {0 .. n-1} for which `holds`, such that without any one of its elements it does not
// hold (1-minimal): ddmin of A. Zeller and R. Hildebrandt, "Simplifying and isolating
// failure-inducing input", 2002. `holds` is true of the whole set; it is not asked about the empty
// one.
Subset smallest_set(std::size_t n, const std::function<bool(const Subset&)>& holds);

// What is in {0 .. n-1} and not in `subset`.
Subset complement(std::size_t n, const Subset& subset);

}  // namespace redzone::bisect

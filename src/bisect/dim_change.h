// Changes one dim of a call, and the dims that a constraint binds to it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "core/plan.h"

namespace redzone::bisect {

// Sets `name` of the call to `value`, and the dims that a constraint binds to it to the nearest
// values that fit. The result may be invalid; check it with validate().
void set_dim(Call& call, const TargetSpec& spec, const std::string& name, std::int64_t value);

// The smallest value that the dim allows: the smallest of its list, or `min` rounded up to a
// multiple.
std::int64_t least_value(const DimSpec& dim);

// The largest value that a search tries: larger than the failing plan's value `own` if the dim
// allows, but small enough for short runs.
std::int64_t reach(const DimSpec& dim, std::int64_t own);

// The largest value of the dim with which `calls` such calls still take little work: the dim's
// maximum, or the first that does of its half, its quarter, and so on. Nothing if no value above
// the call's own does. What fails only far beyond the other values that are tried is seen there.
std::optional<std::int64_t> far_value(const TargetSpec& spec, const Call& call, const DimSpec& dim,
                                      std::size_t calls);

}  // namespace redzone::bisect

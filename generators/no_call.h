// Detects targets without a valid call, and mistakes in a spec that appear in some calls only.
#pragma once

#include <redzone/spec.h>

#include <limits>
#include <optional>
#include <string>

#include "core/error.h"
#include "core/spec_calls.h"

namespace redzone::generators {

// Returns why no plan of the target can run, as one clause: its constraints exclude each other, a
// shape is invalid, or the tensors of even its smallest call take more than `most_bytes`. Returns
// nullopt if some plan can run. Fails with a usage error if a function of the spec throws for one
// of a few drawn calls, including large ones. If `calls` (the calls of the spec's functions, which
// may be slow) is given, the search ends after two seconds with nullopt.
Result<std::optional<std::string>> why_no_call(
    const TargetSpec& spec, SpecCalls* calls = nullptr,
    double most_bytes = std::numeric_limits<double>::infinity());

}  // namespace redzone::generators

// Detects targets without a valid call, and mistakes in a spec that show in some calls only.
#pragma once

#include <redzone/spec.h>

#include <limits>
#include <optional>
#include <string>

#include "core/error.h"
#include "core/spec_calls.h"

namespace redzone::generators {

// Why no plan of the target can run, as one clause: its constraints exclude each other, a shape is
// invalid, or the tensors of even its smallest call take more than `most_bytes`; nothing if some
// can. Fails with a usage error if a function of the spec throws for one of a few drawn calls,
// large ones included. With the `calls` of its functions, which may be slow, the search ends after
// two seconds with nothing.
Result<std::optional<std::string>> why_no_call(
    const TargetSpec& spec, SpecCalls* calls = nullptr,
    double most_bytes = std::numeric_limits<double>::infinity());

}  // namespace redzone::generators

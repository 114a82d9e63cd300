// What a finding needs besides its calls: earlier calls of the worker, a mode, a busy machine.
#pragma once

#include <string>
#include <vector>

#include "core/finding.h"

namespace redzone::report {

// "launch gated (0/3 with blocking, 0/3 with async)", "a busy machine (1/16 alone, 14/16 side by
// side)"; empty if no such need is known. A mode is listed only for a confirmed finding, which
// always fails: otherwise a few passes prove nothing, and `redzone bisect` decides. A busy machine
// is listed if Fisher's exact test finds fewer failures alone, with 1% of false alarms.
std::vector<std::string> needs_of(const Finding& finding);

}  // namespace redzone::report

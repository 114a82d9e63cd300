// What a finding needs beside its calls: the history of a worker, a mode, a busy machine.
#pragma once

#include <string>
#include <vector>

#include "core/finding.h"

namespace redzone::report {

// "launch gated (0/3 with blocking, 0/3 with async)", "a busy machine (1/16 alone, 14/16 side by
// side)"; empty where nothing is known to be needed. Of a mode only where the failure shows always:
// else a few passes say nothing, and `redzone bisect` tells. A busy machine is needed where
// Fisher's exact test finds fewer failures alone, with 1% of false alarms.
std::vector<std::string> needs_of(const Finding& finding);

}  // namespace redzone::report

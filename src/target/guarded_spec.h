// Wraps the functions of a spec: every caller in Redzone calls them through this wrapper.
#pragma once

#include <redzone/spec.h>

#include <memory>

#include "target/spec_watch.h"

namespace redzone {

// Returns the same spec with functions that throw only SpecMistake and that `watch`, if not null,
// watches. A tolerance that is negative or not finite is such a mistake, too: every comparison, or
// none, would pass. Each spec is wrapped once, where it enters a process.
TargetSpec guarded(TargetSpec spec, const std::shared_ptr<SpecWatch>& watch = nullptr);

}  // namespace redzone

// Wraps the functions of a spec: every caller in Redzone calls them through this wrapper.
#pragma once

#include <redzone/spec.h>

#include <memory>

#include "target/spec_watch.h"

namespace redzone {

// Returns the same spec with functions that throw nothing but SpecMistake. A tolerance that is
// negative or not finite is such a mistake, too (it would pass anything, or nothing), and so is a
// number that is not a DType. With a `watch` the functions are watched, and throw SpecCallsEnded
// instead of running if the watch requires it. Each spec goes through this function once, when it
// enters a process.
TargetSpec guarded(TargetSpec spec, const std::shared_ptr<SpecWatch>& watch = nullptr);

}  // namespace redzone

// Wraps the functions of a spec: every caller in Redzone calls them through this wrapper.
#pragma once

#include <redzone/spec.h>

#include <memory>

#include "target/spec_watch.h"

namespace redzone {

// The same spec, whose functions throw nothing but SpecMistake, and with a `watch` are watched, and
// throw SpecCallsEnded in place of a call where it says so. A
// tolerance that is negative or not finite is such a mistake, too (it would pass anything, or
// nothing), and so is a number that is no DType. Each spec goes through this once, where it enters
// a process.
TargetSpec guarded(TargetSpec spec, const std::shared_ptr<SpecWatch>& watch = nullptr);

}  // namespace redzone

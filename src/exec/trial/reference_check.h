// Outputs of one call against the target's float64 reference.
#pragma once

#include "exec/trial/trial_state.h"

namespace redzone::exec {

// Scalar operations of one call: the spec's own figure, or its number of elements.
double work_of(const TargetSpec& spec, const CallUnit& unit);

// Reads the outputs back, makes the inputs again on the CPU (not a byte of them is read from the
// device), runs the reference and adds what it finds to the call's observation. The device is idle.
// A reference that throws ends the trial as a worker error: the mistake is not the kernel's.
void compare_with_reference(TrialState& state, const Target& target, const TargetSpec& spec,
                            const CallUnit& unit);

}  // namespace redzone::exec

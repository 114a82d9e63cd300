// Compares outputs of calls with the target's float64 reference.
#pragma once

#include <span>
#include <vector>

#include "trial/trial_state.h"

namespace redzone::trial {

// Host memory in bytes for the inputs and outputs of a call's reference.
std::size_t reference_bytes(const CallUnit& unit);

// Keeps its memory between calls and trials: these are many and mostly small, so allocating anew
// would cost more than computing the values.
class ReferenceCheck {
 public:
  // Recomputes the inputs of each call on the CPU (none are read from the device), runs the
  // reference, reads the outputs back and adds the result to the call's observation. Calls with
  // equal descriptions in the plan share one run of the reference; the outputs of each are
  // compared, and the first of them carries the time. The device must be idle. A reference that
  // throws ends the trial as a spec error, because the mistake is not the kernel's.
  void compare(TrialState& state, const Target& target, const TargetSpec& spec,
               std::span<const CallUnit* const> units);

 private:
  class Values;

  // False if the session has stopped.
  bool run_reference(TrialState& state, const Target& target, const TargetSpec& spec,
                     const CallUnit& unit);
  bool compare_outputs(TrialState& state, const TargetSpec& spec, const CallUnit& unit);
  void make_inputs(const CallUnit& unit);
  bool read_output(Session& session, const TensorBuffer& tensor);
  void forget_large();

  std::vector<std::vector<double>> inputs_, outputs_;  // by tensor; logical order
  std::vector<double> in_memory_order_, found_;
  std::vector<std::byte> bytes_;
};

}  // namespace redzone::trial

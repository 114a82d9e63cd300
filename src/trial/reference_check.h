// Outputs of calls against the target's float64 reference.
#pragma once

#include <span>
#include <vector>

#include "trial/trial_state.h"

namespace redzone::trial {

// Bytes of host memory that the reference of a call needs for its inputs and outputs.
std::size_t reference_bytes(const CallUnit& unit);

// Keeps its memory between calls and between trials: they are many and mostly small, and memory
// that is new each time costs more than the numbers in it.
class ReferenceCheck {
 public:
  // Makes the inputs of each call again on the CPU (not a byte of them is read from the device),
  // runs the reference, reads the outputs back and adds what it finds to the call's observation.
  // Calls that are equal in all that a plan says of them share the run of the reference; the
  // outputs of each are compared, and the first of them carries the time. The device is idle. A
  // reference that throws ends the trial as a spec error: the mistake is not the kernel's.
  void compare(TrialState& state, const Target& target, const TargetSpec& spec,
               std::span<const CallUnit* const> units);

 private:
  class Values;

  // False when the session has stopped.
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

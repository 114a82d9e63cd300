// Compares outputs of calls with the target's float64 reference.
#pragma once

#include <span>
#include <vector>

#include "trial/fetched_outputs.h"
#include "trial/reference_memory.h"
#include "trial/tensor_reader.h"
#include "trial/trial_state.h"

namespace redzone::trial {

// Bytes of host memory for the inputs and outputs of a call's reference.
std::size_t reference_bytes(const CallUnit& unit);

// A call to compare by a sample, and the kind of comparison to report: `compared` if the sample
// turns out to contain all rows of all outputs.
struct SampledUnit {
  const CallUnit* unit = nullptr;
  Comparison comparison = Comparison::sampled;
};

// Keeps its memory between calls and trials: calls are many and mostly small, so new allocations
// would cost more than computing the values.
class ReferenceCheck {
 public:
  ReferenceCheck();

  // Recomputes the inputs of each call on the CPU (none are read from the device), runs the
  // reference, reads the outputs back and adds the result to the call's observation. Calls with
  // equal descriptions share one run of the reference, within a plan and as long as its result is
  // remembered; the outputs of each call are compared, and the time is recorded for the call for
  // which the reference ran. The device must be idle; fetched outputs are not read again. A
  // reference that throws ends the trial as a spec error, because the mistake is not the kernel's.
  void compare(TrialState& state, const Target& target, const TargetSpec& spec,
               std::span<const CallUnit* const> units, const FetchedOutputs& fetched);
  // Like compare(), for some rows of each output, for targets with TargetSpec::sampled_rows.
  void sample(TrialState& state, const Target& target, const TargetSpec& spec,
              std::span<SampledUnit> units);

 private:
  class Values;

  // These return false if the session has stopped.
  bool run_reference(TrialState& state, const Target& target, const TargetSpec& spec,
                     const CallUnit& unit, std::uint64_t& function_us);
  bool compare_outputs(TrialState& state, const TargetSpec& spec, const CallUnit& unit,
                       const ExpectedOutputs& expected, const FetchedOutputs& fetched);
  ReferenceObservation compare_found(const TensorBuffer& tensor, const TargetSpec& spec,
                                     const Call& call, const std::vector<double>& found,
                                     const std::vector<double>& expected) const;
  bool sample_one(TrialState& state, const Target& target, const TargetSpec& spec,
                  SampledUnit& sampled);
  void make_inputs(const CallUnit& unit);
  void forget_large();

  std::vector<std::vector<double>> inputs_;  // by tensor; logical order
  ExpectedOutputs outputs_;                  // by tensor; logical order
  std::vector<double> in_memory_order_;      // one input
  std::vector<double> sample_;               // rows of one output
  TensorReader reader_;
  ReferenceMemory memory_;
};

}  // namespace redzone::trial

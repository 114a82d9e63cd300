// Outputs of which a part is valid, as other tensors say after the call: TensorSpec::counted_by.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "trial/segment.h"
#include "trial/tensor_reader.h"

namespace redzone::trial {

// Calls `visit` with jobs that set to 0 what is not valid of an output, and write nothing else,
// until it returns false. `counts`: for each index of the dims before `dim`, which is a dim of the
// output, the valid entries of that dim. Up to one job for each of them.
void visit_after_valid(const TensorBuffer& output, int dim, std::span<const double> counts,
                       const std::function<bool(const device::BufferJob&)>& visit);

class CountedOutputs {
 public:
  // Sets what is not valid to 0 in all outputs of the calls that ran, and repeats their part of the
  // segment's check. Call it after check(), which has seen all that has to be seen in the order of
  // streams: this waits for the device. Does nothing for a target without counted outputs, or if
  // the device is lost.
  void settle(TrialState& state, const TargetSpec& spec, Segment& segment);

 private:
  bool settle(TrialState& state, const TargetSpec& spec, Segment& segment, const CallUnit& unit,
              std::size_t first_result);
  // Enqueues the jobs and waits for them, so that what a device keeps for each is free again.
  bool fill(TrialState& state);

  TensorReader reader_;
  std::vector<device::BufferJob> jobs_;
};

}  // namespace redzone::trial

// Outputs whose valid part is determined by other tensors after the call: TensorSpec::counted_by.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "trial/segment.h"
#include "trial/tensor_reader.h"

namespace redzone::trial {

// Calls `visit` with jobs that set the invalid elements of an output to 0 and write nothing else,
// until `visit` returns false. `dim` is a dim of the output; `counts` contains, for each index of
// the dims before `dim`, the number of valid entries along `dim`. Makes at most one job per count.
void visit_after_valid(const TensorBuffer& output, int dim, std::span<const double> counts,
                       const std::function<bool(const device::BufferJob&)>& visit);

class CountedOutputs {
 public:
  // Sets the invalid elements to 0 in all outputs of the calls that ran, and repeats the check of
  // these outputs. Call it after check(), because settle() waits for the device and check() must
  // observe the memory in stream order. Does nothing for a target without counted outputs, or if
  // the device is lost.
  void settle(TrialState& state, const TargetSpec& spec, Segment& segment);

 private:
  bool settle(TrialState& state, const TargetSpec& spec, Segment& segment, const CallUnit& unit,
              std::size_t first_result);
  // Enqueues the jobs and waits for them, so that the device can reuse the memory that it holds for
  // each job.
  bool fill(TrialState& state);

  TensorReader reader_;
  std::vector<device::BufferJob> jobs_;
};

}  // namespace redzone::trial

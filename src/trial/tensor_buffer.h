// A tensor of one call as seen by the device.
#pragma once

#include <redzone/target.h>

#include <cstdint>

#include "core/layout.h"
#include "core/plan.h"
#include "device/buffer_job.h"
#include "device/device.h"
#include "trial/placement.h"
#include "trial/raw_job.h"

namespace redzone::trial {

struct TensorBuffer {
  const TensorSpec* spec = nullptr;  // borrowed from the registry
  Role role = Role::in;
  DType dtype = DType::f32;
  View view;
  Storage storage;
  Place at;               // null until placed
  device::BufferJob job;  // fills the tensor before the call and checks it after; its elements are
                          // reals
};

// Sets everything except the place. The data depend only on the seed of the call, the tensor's name
// and the memory order: a call has the same data at any position in the plan. Returns a usage error
// if the spec's shape or fill range is invalid, and a harness error if the tensor does not fit into
// the address space. Exceptions of the spec's other functions propagate. `spec` must be an element
// of `target.tensors`.
Result<void> describe_tensor(const TensorSpec& spec, const TargetSpec& target, const Call& call,
                             const Mode& mode, TensorBuffer& out);

void place_tensor(TensorBuffer& tensor, const device::Region& region, const Mode& mode);

// The argument for the target. Its spans point into `tensor`.
TensorArg argument(const TensorBuffer& tensor);

}  // namespace redzone::trial

// A tensor of one call as seen by the device.
#pragma once

#include <redzone/target.h>

#include <cstdint>

#include "core/layout.h"
#include "core/plan.h"
#include "device/buffer_job.h"
#include "device/device.h"
#include "trial/placement.h"

namespace redzone::trial {

struct TensorBuffer {
  const TensorSpec* spec = nullptr;  // borrowed from the registry
  DType dtype = DType::f32;
  View view;
  Storage storage;
  Place at;               // null until placed
  device::BufferJob job;  // fills it before the call and checks it after; over reals
};

// Describes everything except the place. The data depend only on the seed of the call, the tensor's
// name and the memory order: a call has the same data at any position in the plan. A usage error if
// the spec's shape or fill range is invalid, and a harness error if the tensor does not fit an
// address space. Throws what the other functions of the spec throw.
Result<void> describe_tensor(const TensorSpec& spec, const Call& call, const Mode& mode,
                             TensorBuffer& out);

void place_tensor(TensorBuffer& tensor, const device::Region& region, const Mode& mode);

// The argument for the target. Its spans point into `tensor`.
TensorArg argument(const TensorBuffer& tensor);

// A job of `bytes` bytes that fills with `poison`; whole words where size and alignment allow.
device::BufferJob raw_job(const Place& at, std::size_t bytes, std::uint32_t poison);

// Fills freed memory, and checks that it is not written afterwards: canaries inside, at most
// `most_bytes` of them.
device::BufferJob freed_job(const Place& at, std::size_t bytes, std::uint32_t poison,
                            std::size_t most_bytes);

// The job without its canaries, whose state remains to be checked.
device::BufferJob without_canaries(device::BufferJob job);

// The job for the check: canaries only.
device::BufferJob canaries_only(device::BufferJob job);

}  // namespace redzone::trial

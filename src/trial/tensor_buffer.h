// A tensor of one call as the device sees it.
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
  device::BufferJob job;  // fills it before the call and checks it after
};

// Everything but the place. The data depend on the seed of the call and the tensor's name only, by
// memory order: a call has the same data wherever it stands in the plan. A usage error where the
// spec gives no shape, and a harness error where the tensor does not fit an address space. Throws
// what the other functions of the spec throw.
Result<void> describe_tensor(const TensorSpec& spec, const Call& call, const Mode& mode,
                             TensorBuffer& out);

void place_tensor(TensorBuffer& tensor, const device::Region& region, const Mode& mode);

// What the target gets. Its spans point into `tensor`.
TensorArg argument(const TensorBuffer& tensor);

// A job of `bytes` bytes that fills with `poison`; whole words where size and alignment allow.
device::BufferJob raw_job(const Place& at, std::size_t bytes, std::uint32_t poison);

// Fills memory that was freed, and checks that it was not written since: canaries within, up to
// `most_bytes` of them.
device::BufferJob freed_job(const Place& at, std::size_t bytes, std::uint32_t poison,
                            std::size_t most_bytes);

// The job without its canaries: what they have seen stays to be checked.
device::BufferJob without_canaries(device::BufferJob job);

// The same job for the check: canaries only.
device::BufferJob canaries_only(device::BufferJob job);

}  // namespace redzone::trial

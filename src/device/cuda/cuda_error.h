// What a CUresult means for the harness.
#pragma once

#include <optional>
#include <string_view>

#include "device/cuda/driver_api.h"
#include "device/device.h"

namespace redzone::device::cuda {

// Errors after which the context never works again, as cuda.h says of each ("the process must be
// terminated and relaunched"). Such a fault can come back from any later call.
bool is_sticky(CUresult result);

// The failure behind `result` of the driver call `what`. An error that is not sticky by itself is a
// fault all the same when the context turns out to be dead: the cause is then what the context
// says. An error of stream capture is `unsupported`. Must be called with the context current, and
// during no capture but a relaxed one of a non-blocking stream.
Failure failure_of(const DriverApi& api, CUresult result, std::string_view what);

// The same for a call that waits for device work: every error comes from that work, so it is a
// fault.
Failure asynchronous_failure_of(const DriverApi& api, CUresult result, std::string_view what);

// The fault that the context carries, if any: for the case that something else than a driver call
// went wrong, for instance a lookup through the runtime API.
std::optional<Failure> context_fault(const DriverApi& api, std::string_view what);

// The same as failure_of() for cuLaunchKernel and what prepares it: an error that leaves the
// context alive means that this launch was refused.
Failure launch_failure_of(const DriverApi& api, CUresult result, std::string_view kernel);

inline Status<void> status_of(const DriverApi& api, CUresult result, std::string_view what) {
  if (result == CUDA_SUCCESS) return {};
  return tl::unexpected(failure_of(api, result, what));
}

}  // namespace redzone::device::cuda

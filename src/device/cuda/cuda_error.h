// Maps a CUresult to a Failure.
#pragma once

#include <optional>
#include <string_view>

#include "device/cuda/driver_api.h"
#include "device/device.h"

namespace redzone::device::cuda {

// Errors after which the context is unusable, according to cuda.h ("the process must be terminated
// and relaunched"). Any later call can return such a fault.
bool is_sticky(CUresult result);

// The failure for `result` of the driver call `what`. An error that is not sticky itself is still a
// fault if the context turns out to be lost: the context then reports the cause. An error of stream
// capture is `unsupported`. Must be called with the context current, and not during a capture,
// except a relaxed one of a non-blocking stream.
Failure failure_of(const DriverApi& api, CUresult result, std::string_view what);

// Like failure_of(), for a call that waits for device work: every error comes from that work and is
// a fault.
Failure asynchronous_failure_of(const DriverApi& api, CUresult result, std::string_view what);

// The fault that the context carries, if any. For failures outside driver calls, for example of a
// lookup through the runtime API.
std::optional<Failure> context_fault(const DriverApi& api, std::string_view what);

// Like failure_of(), for cuLaunchKernel and its preparation: an error that leaves the context alive
// means that this launch was refused.
Failure launch_failure_of(const DriverApi& api, CUresult result, std::string_view kernel);
// Like launch_failure_of(), for other work `what` with arguments of the target.
Failure refusal_of(const DriverApi& api, CUresult result, std::string_view what);

inline Status<void> status_of(const DriverApi& api, CUresult result, std::string_view what) {
  if (result == CUDA_SUCCESS) return {};
  return tl::unexpected(failure_of(api, result, what));
}

}  // namespace redzone::device::cuda

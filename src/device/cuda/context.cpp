#include "device/cuda/context.h"

#include "device/cuda/cuda_error.h"

namespace redzone::device::cuda {

Status<std::unique_ptr<PrimaryContext>> PrimaryContext::retain(const DriverApi& api,
                                                               CUdevice device) {
  CUcontext previous = nullptr;
  if (auto r = api.ctx_get_current(&previous); r != CUDA_SUCCESS)
    return tl::unexpected(failure_of(api, r, "cuCtxGetCurrent"));
  CUcontext context = nullptr;
  if (auto r = api.primary_retain(&context, device); r != CUDA_SUCCESS)
    return tl::unexpected(failure_of(api, r, "cuDevicePrimaryCtxRetain"));
  std::unique_ptr<PrimaryContext> retained(new PrimaryContext(api, device, context, previous));
  if (auto r = api.ctx_set_current(context); r != CUDA_SUCCESS)
    return tl::unexpected(failure_of(api, r, "cuCtxSetCurrent"));
  return retained;
}

void PrimaryContext::attach_thread() const {
  CUcontext current = nullptr;
  if (api_.ctx_get_current(&current) == CUDA_SUCCESS && current == nullptr)
    api_.ctx_set_current(context_);
}

PrimaryContext::~PrimaryContext() {
  api_.ctx_set_current(previous_);
  api_.primary_release(device_);
}

}  // namespace redzone::device::cuda

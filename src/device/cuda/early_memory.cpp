#include "device/cuda/early_memory.h"

#include <cstdint>

#include "device/cuda/driver_api.h"

namespace redzone::device {
namespace {

// Null without a driver.
const cuda::DriverApi* driver() {
  static const auto api = cuda::load_driver_api();
  return api && api->init(0) == CUDA_SUCCESS ? &*api : nullptr;
}

// Makes a context current on the calling thread, which may not have used the GPU before. The
// context is retained until the process ends.
bool has_context(const cuda::DriverApi& api) {
  CUcontext context = nullptr;
  if (api.ctx_get_current(&context) == CUDA_SUCCESS && context != nullptr) return true;
  CUdevice gpu = 0;
  return api.device_get(&gpu, 0) == CUDA_SUCCESS &&
         api.primary_retain(&context, gpu) == CUDA_SUCCESS &&
         api.ctx_set_current(context) == CUDA_SUCCESS;
}

}  // namespace

void* allocate_early(std::size_t bytes) {
  const cuda::DriverApi* api = driver();
  CUdeviceptr at = 0;
  if (api == nullptr || !has_context(*api) || api->mem_alloc(&at, bytes) != CUDA_SUCCESS)
    return nullptr;
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(at));
}

void free_early(void* at) {
  const cuda::DriverApi* api = driver();
  if (api != nullptr && has_context(*api))
    api->mem_free(static_cast<CUdeviceptr>(reinterpret_cast<std::uintptr_t>(at)));
}

}  // namespace redzone::device

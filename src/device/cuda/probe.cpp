// probe_cuda(): detects driver, device and NVRTC, without a context.
#include "device/cuda/cuda_error.h"
#include "device/cuda/device_facts.h"
#include "device/cuda/nvrtc_api.h"

namespace redzone::device {
namespace {

// Fills in everything up to the first missing part, and returns that part.
std::string look_for_device(CudaProbe& probe) {
  auto api = cuda::load_driver_api();
  if (!api) return api.error();
  const auto failed = [&](CUresult r, const char* what) {
    const Failure failure = cuda::failure_of(*api, r, what);
    return failure.detail + " (" + failure.code + ")";
  };
  if (auto r = api->init(0); r != CUDA_SUCCESS) return failed(r, "cuInit");
  probe.driver = true;
  probe.driver_version = cuda::driver_version(*api);
  int count = 0;
  if (auto r = api->device_count(&count); r != CUDA_SUCCESS) return failed(r, "cuDeviceGetCount");
  if (count == 0) return "the CUDA driver finds no GPU";
  CUdevice device = 0;
  if (auto r = api->device_get(&device, 0); r != CUDA_SUCCESS) return failed(r, "cuDeviceGet");
  auto name = cuda::device_name(*api, device);
  if (!name) return name.error().detail;
  auto capability = cuda::compute_capability(*api, device);
  if (!capability) return capability.error().detail;
  probe.device = true;
  probe.name = std::move(*name);
  probe.compute_capability = *capability;
  return {};
}

}  // namespace

CudaProbe probe_cuda() {
  CudaProbe probe;
  probe.built = true;
  probe.problem = look_for_device(probe);
  if (auto nvrtc = cuda::load_nvrtc_api())
    probe.nvrtc = nvrtc->version_text + " (" + nvrtc->path + ")";
  else if (probe.problem.empty())
    probe.problem = nvrtc.error();
  return probe;
}

}  // namespace redzone::device

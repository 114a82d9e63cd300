// Stubs for a build that was configured without nvcc.
#include "device/cuda/early_memory.h"
#include "device/device.h"
#include "device/tensor_map.h"
#include "device/variant_hook.h"

namespace redzone::device {

Status<std::unique_ptr<Device>> open_cuda_device() {
  return tl::unexpected(Failure{Failure::Kind::harness, "no-cuda", "this build has no CUDA side"});
}

Status<std::unique_ptr<TensorMapEncoder>> open_tensor_map_encoder() {
  return tl::unexpected(
      Failure{Failure::Kind::unsupported, "no-cuda", "this build has no CUDA side"});
}

std::string no_compiling_ahead() {
  return "this build has no CUDA side";
}

VariantHook compiling_hook(int) {
  return [](const VariantRequest&, BlackBox*) {};
}

void* allocate_early(std::size_t) {
  return nullptr;
}

void free_early(void*) {}

CudaProbe probe_cuda() {
  CudaProbe probe;
  probe.problem = "this build has no CUDA side";
  return probe;
}

}  // namespace redzone::device

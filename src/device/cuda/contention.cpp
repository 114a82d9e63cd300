#include "device/cuda/contention.h"

#include "device/cuda/contention_kernel.h"
#include "device/cuda/cuda_error.h"

extern "C" const unsigned char redzone_contention_kernel[];  // kernels.S

namespace redzone::device::cuda {
namespace {

constexpr unsigned kContendersPerProcessor = 2;  // blocks
constexpr unsigned long long kContentionNs = 300'000;

}  // namespace

Status<std::unique_ptr<Contention>> Contention::create(const DriverApi& api, int processors) {
  std::unique_ptr<Contention> made(new Contention(api, processors));
  if (auto r = api.module_load(&made->module_, redzone_contention_kernel); r != CUDA_SUCCESS)
    return tl::unexpected(failure_of(api, r, "loading the kernel that keeps the device busy"));
  if (auto r = api.module_function(&made->kernel_, made->module_, "redzone_contention");
      r != CUDA_SUCCESS)
    return tl::unexpected(failure_of(api, r, "redzone_contention"));
  // Loads the kernel now, because a stream may be held at its launch.
  if (api.function_load != nullptr)
    if (auto r = api.function_load(made->kernel_); r != CUDA_SUCCESS)
      return tl::unexpected(failure_of(api, r, "redzone_contention"));
  if (auto r = api.stream_create(&made->stream_, CU_STREAM_NON_BLOCKING); r != CUDA_SUCCESS)
    return tl::unexpected(failure_of(api, r, "cuStreamCreate"));
  if (auto r = api.mem_alloc(&made->words_, kContentionWords * sizeof(unsigned)); r != CUDA_SUCCESS)
    return tl::unexpected(failure_of(api, r, "cuMemAlloc"));
  return made;
}

Contention::~Contention() {
  if (stream_ != nullptr) api_.stream_destroy(stream_);
  if (words_ != 0) api_.mem_free(words_);  // waits for the device
  if (module_ != nullptr) api_.module_unload(module_);
}

Status<void> Contention::begin() {
  unsigned long long ns = kContentionNs;
  void* parameters[] = {&words_, &ns};
  const unsigned blocks = kContendersPerProcessor * static_cast<unsigned>(processors_);
  return status_of(api_,
                   api_.launch_kernel(kernel_, blocks, 1, 1, kContentionThreads, 1, 1, 0, stream_,
                                      parameters, nullptr),
                   "launch of the kernel that keeps the device busy");
}

}  // namespace redzone::device::cuda

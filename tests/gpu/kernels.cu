#include "gpu/kernels.h"

#include <cuda_runtime.h>
#include <redzone/kernel.h>

namespace redzone::gpu_test {
namespace {

__global__ void store_byte(std::uint8_t* at, std::uint8_t value) {
  *at = value;
}

__global__ void load_byte(const std::uint8_t* at, std::uint8_t* to) {
  *to = *static_cast<const volatile std::uint8_t*>(at);
}

__global__ void load_word(const std::uint32_t* at, std::uint32_t* to) {
  *to = *static_cast<const volatile std::uint32_t*>(at);
}

__device__ void add_one(std::uint32_t* counter) {
  atomicAdd_system(counter, 1u);
  __threadfence_system();
}
__global__ void count(std::uint32_t* counter) {
  add_one(counter);
}
__global__ void count_twin(std::uint32_t* counter) {
  add_one(counter);
}

__global__ void meet(std::uint32_t* arrived) {
  if (threadIdx.x != 0) return;
  atomicAdd(arrived, 1u);
  while (*static_cast<volatile std::uint32_t*>(arrived) < gridDim.x) {
  }
}

__global__ void delayed_store(std::uint32_t* at, std::uint32_t value, std::int64_t cycles) {
  const std::int64_t start = clock64();
  while (clock64() - start < cycles) {
  }
  *at = value;
}

__global__ void copy_word(const std::uint32_t* from, std::uint32_t* to) {
  *to = *from;
}

__global__ void shared_sum(std::uint32_t* to, std::uint32_t bytes) {
  std::uint8_t* shared = dynamic_shared<std::uint8_t>();
  for (std::uint32_t i = threadIdx.x; i < bytes; i += blockDim.x) shared[i] = 1;
  __syncthreads();
  if (threadIdx.x != 0) return;
  std::uint32_t sum = 0;
  for (std::uint32_t i = 0; i < bytes; ++i) sum += shared[i];
  *to = sum;
}

__global__ void failing_assert() {
  assert(gridDim.x == 0);
}

__global__ void trap() {
  __trap();
}

}  // namespace

KernelRef store_byte_kernel() {
  return kernel_ref("store_byte", store_byte);
}
KernelRef load_byte_kernel() {
  return kernel_ref("load_byte", load_byte);
}
KernelRef load_word_kernel() {
  return kernel_ref("load_word", load_word);
}
KernelRef count_kernel() {
  return kernel_ref("count", count);
}
KernelRef count_twin_kernel() {
  return kernel_ref("count_twin", count_twin);
}
KernelRef meet_kernel() {
  return kernel_ref("meet", meet);
}
KernelRef delayed_store_kernel() {
  return kernel_ref("delayed_store", delayed_store);
}
KernelRef copy_word_kernel() {
  return kernel_ref("copy_word", copy_word);
}
KernelRef shared_sum_kernel() {
  return kernel_ref("shared_sum", shared_sum);
}
KernelRef assert_kernel() {
  return kernel_ref("failing_assert", failing_assert);
}
KernelRef trap_kernel() {
  return kernel_ref("trap", trap);
}

std::uint32_t* mapped_word() {
  void* word = nullptr;
  if (cudaHostAlloc(&word, sizeof(std::uint32_t), cudaHostAllocMapped) != cudaSuccess)
    return nullptr;
  *static_cast<std::uint32_t*>(word) = 0;
  return static_cast<std::uint32_t*>(word);
}

bool wait_for_stream(void* stream) {
  return cudaStreamSynchronize(static_cast<cudaStream_t>(stream)) == cudaSuccess;
}

}  // namespace redzone::gpu_test

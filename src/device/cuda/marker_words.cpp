#include "device/cuda/marker_words.h"

#include <atomic>

#include "device/cuda/cuda_error.h"

namespace redzone::device::cuda {

Status<std::unique_ptr<MarkerWords>> MarkerWords::create(const DriverApi& api) {
  void* memory = nullptr;
  CUresult result = api.host_alloc(&memory, kWords * sizeof(std::uint32_t),
                                   CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_PORTABLE);
  if (result != CUDA_SUCCESS) return tl::unexpected(failure_of(api, result, "cuMemHostAlloc"));
  CUdeviceptr device_words = 0;
  result = api.host_device_pointer(&device_words, memory, 0);
  if (result != CUDA_SUCCESS) {
    api.host_free(memory);
    return tl::unexpected(failure_of(api, result, "cuMemHostGetDevicePointer"));
  }
  std::unique_ptr<MarkerWords> board(
      new MarkerWords(api, static_cast<std::uint32_t*>(memory), device_words));
  board->clear();
  return board;
}

MarkerWords::~MarkerWords() {
  api_.host_free(words_);
}

Status<void> MarkerWords::write(int index, CUstream stream, std::uint32_t number) {
  RZ_CHECK(index >= 0 && index < kWords);
  const CUdeviceptr word = device_words_ + static_cast<CUdeviceptr>(index) * sizeof(std::uint32_t);
  return status_of(api_,
                   api_.stream_write_value(stream, word, number, CU_STREAM_WRITE_VALUE_DEFAULT),
                   "cuStreamWriteValue32");
}

std::uint32_t MarkerWords::read(int index) const {
  RZ_CHECK(index >= 0 && index < kWords);
  return std::atomic_ref<std::uint32_t>(words_[index]).load(std::memory_order_seq_cst);
}

void MarkerWords::clear() {
  for (int i = 0; i < kWords; ++i)
    std::atomic_ref<std::uint32_t>(words_[i]).store(0, std::memory_order_seq_cst);
}

}  // namespace redzone::device::cuda

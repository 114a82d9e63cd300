#include "device/cuda/staging.h"

#include <algorithm>

#include "device/cuda/cuda_error.h"

namespace redzone::device::cuda {

namespace {
constexpr std::size_t kBlockBytes = 4 << 20;
}

Staging::~Staging() {
  for (const Block& block : blocks_) {
    api_.host_free(block.host);
    api_.mem_free(block.device);
  }
}

Status<Staging::Slice> Staging::take(std::size_t bytes) {
  bytes = (bytes + 15) / 16 * 16;
  while (current_ < blocks_.size() && blocks_[current_].bytes - used_ < bytes) {
    ++current_;
    used_ = 0;
  }
  if (current_ == blocks_.size()) RZ_TRY(grow(bytes));
  const Block& block = blocks_[current_];
  const Slice slice{block.host + used_, block.device + used_};
  used_ += bytes;
  return slice;
}

void Staging::reset() {
  current_ = 0;
  used_ = 0;
}

Status<void> Staging::grow(std::size_t bytes) {
  Block block;
  block.bytes = std::max(bytes, kBlockBytes);
  void* host = nullptr;
  if (auto r = api_.host_alloc(&host, block.bytes, 0); r != CUDA_SUCCESS)
    return tl::unexpected(failure_of(api_, r, "cuMemHostAlloc"));
  block.host = static_cast<std::byte*>(host);
  if (auto r = api_.mem_alloc(&block.device, block.bytes); r != CUDA_SUCCESS) {
    api_.host_free(host);
    return tl::unexpected(failure_of(api_, r, "cuMemAlloc"));
  }
  blocks_.push_back(block);
  used_ = 0;
  return {};
}

}  // namespace redzone::device::cuda

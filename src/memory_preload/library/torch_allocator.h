// Locates the code of PyTorch's allocator in this process.
#pragma once

#include <atomic>
#include <cstdint>

namespace redzone::memory_preload {

class TorchAllocator {
 public:
  // Looks for libc10.so among the loaded libraries; cheap if none was loaded since the last call.
  // Returns true if libc10.so is loaded.
  bool look();
  // True if an address of code lies in the library. Takes no lock.
  bool contains(const void* code) const {
    const auto at = reinterpret_cast<std::uintptr_t>(code);
    return at >= begin_.load(std::memory_order_relaxed) &&
           at < end_.load(std::memory_order_relaxed);
  }

 private:
  std::atomic<std::uintptr_t> begin_{0}, end_{0};
  unsigned long long loads_ = 0;  // number of library loads at the last search
};

}  // namespace redzone::memory_preload

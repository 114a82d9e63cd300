// Kernels that were built for checks (host_checks.h).
#pragma once

#include <redzone/host_checks.h>

#include <cstddef>
#include <unordered_map>

namespace redzone::device {

class CheckedCode {
 public:
  // Connects the shared object of this kernel to `sink`, which must outlive the use of the kernel.
  // Returns the base address of the object; null if it was not built for checks.
  const std::byte* connect(const void* kernel, host::AccessSink& sink);

 private:
  std::unordered_map<const void*, const std::byte*> known_;  // by kernel
};

}  // namespace redzone::device

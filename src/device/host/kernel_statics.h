// Shared memory of a fixed size: the `__shared__` variables that a kernel declares, which on the
// host are thread-local variables of its function (thread_statics.h).
//
// Found by name in the symbol table of the kernel's shared object, which a stripped one lacks.
// Variables of functions that the kernel calls are not among them.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <vector>

namespace redzone::device {

class KernelStatics {
 public:
  using Variables = std::vector<std::span<std::byte>>;

  // Those of the calling thread, which is the same in each call. `kernel`: its function.
  const Variables& of(const void* kernel);

 private:
  std::map<const void*, Variables> known_;
};

}  // namespace redzone::device

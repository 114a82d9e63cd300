// Shared memory of a fixed size: the `__shared__` variables that a kernel declares. On the host
// they are thread-local variables of its function (thread_statics.h).
//
// The variables are found by name in the symbol table of the kernel's shared object, which a
// stripped object lacks. Variables of functions that the kernel calls are not included.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "device/host/thread_statics.h"

namespace redzone::device {

class KernelStatics {
 public:
  using Variables = std::vector<std::span<std::byte>>;

  // The variables of the calling thread, valid until it ends or another thread calls of().
  // `kernel`: the kernel's function.
  const Variables& of(const void* kernel);

 private:
  struct Place {
    std::size_t offset, bytes;  // in the thread-local storage of the shared object
  };
  struct Known {
    ThreadStorage storage;
    std::vector<Place> places;
    const std::byte* begin = nullptr;  // beginning of the storage that `variables` point into
    Variables variables = {};
  };
  static std::vector<Place> places_of(const void* kernel);

  std::map<const void*, Known> known_;
};

}  // namespace redzone::device

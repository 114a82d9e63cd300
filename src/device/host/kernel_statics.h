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

#include "device/host/thread_statics.h"

namespace redzone::device {

class KernelStatics {
 public:
  using Variables = std::vector<std::span<std::byte>>;

  // Those of the calling thread, valid until it ends or another thread calls. `kernel`: its
  // function.
  const Variables& of(const void* kernel);

 private:
  struct Place {
    std::size_t offset, bytes;  // in the thread-local storage of the shared object
  };
  struct Known {
    ThreadStorage storage;
    std::vector<Place> places;
    const std::byte* begin = nullptr;  // of the storage that has `variables`
    Variables variables = {};
  };
  static std::vector<Place> places_of(const void* kernel);

  std::map<const void*, Known> known_;
};

}  // namespace redzone::device

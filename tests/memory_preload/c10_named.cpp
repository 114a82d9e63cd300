// Allocates as PyTorch's library of this name does.

#include <cstdlib>

extern "C" void* c10_allocate(std::size_t bytes) {
  void* out = nullptr;
  return posix_memalign(&out, 64, bytes) == 0 ? out : nullptr;
}

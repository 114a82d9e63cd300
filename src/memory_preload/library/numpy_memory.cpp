// The memory of numpy's arrays, through numpy's interface for this: NEP 49, "Data allocation
// strategies". The first argument of its functions is a context, which is not used here.
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "memory_preload/library/export.h"
#include "memory_preload/library/process_memory.h"
#include "memory_preload/memory_abi.h"
#include "memory_preload/trial_blocks.h"

namespace redzone::memory_preload {
namespace {

// PyDataMemAllocator and PyDataMem_Handler of numpy/ndarraytypes.h, version 1.
struct NumpyAllocator {
  void* context;
  void* (*malloc)(void* context, std::size_t bytes);
  void* (*calloc)(void* context, std::size_t count, std::size_t bytes);
  void* (*realloc)(void* context, void* address, std::size_t bytes);
  void (*free)(void* context, void* address, std::size_t bytes);
};
struct NumpyHandler {
  char name[127];
  std::uint8_t version;
  NumpyAllocator allocator;
};

void* allocate(std::size_t bytes) {
  TrialBlocks* const all = process_blocks();
  return all == nullptr ? nullptr : all->allocate(bytes, Maker::numpy);
}

void* numpy_malloc(void*, std::size_t bytes) {
  if (void* const block = allocate(bytes)) return block;
  return std::malloc(bytes);
}

void* numpy_calloc(void*, std::size_t count, std::size_t bytes) {
  std::size_t all = 0;
  if (!__builtin_mul_overflow(count, bytes, &all))
    if (void* const block = allocate(all)) return std::memset(block, 0, all);
  return std::calloc(count, bytes);
}

// For a guarded block, c_library.cpp defines realloc() and free().
void* numpy_realloc(void*, void* address, std::size_t bytes) {
  return std::realloc(address, bytes);
}
void numpy_free(void*, void* address, std::size_t) {
  std::free(address);
}

constexpr NumpyHandler kHandler = {
    "redzone", 1, {nullptr, numpy_malloc, numpy_calloc, numpy_realloc, numpy_free}};

}  // namespace
}  // namespace redzone::memory_preload

REDZONE_EXPORT const void* rz_memory_numpy_handler() {
  return &redzone::memory_preload::kHandler;
}

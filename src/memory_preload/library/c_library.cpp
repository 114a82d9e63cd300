// Replaces C library functions for the program. They may be called before this library has started.
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <type_traits>

#include "memory_preload/library/export.h"
#include "memory_preload/library/process_memory.h"
#include "memory_preload/trial_blocks.h"

namespace redzone::memory_preload {
namespace {

// The next definitions.
struct Next {
  int (*posix_memalign)(void**, std::size_t, std::size_t);
  void (*free)(void*);
  void* (*realloc)(void*, std::size_t);
  void* (*reallocarray)(void*, std::size_t, std::size_t);
  std::size_t (*malloc_usable_size)(void*);
};
constinit Next next_functions{};
constinit std::atomic<bool> next_known{false};
// A lookup frees memory that an earlier lookup on this thread left behind. free() ignores this
// memory instead of starting another lookup.
thread_local constinit bool looks_up __attribute__((tls_model("initial-exec"))) = false;

const Next& next() {
  if (next_known.load(std::memory_order_acquire)) return next_functions;
  looks_up = true;
  Next found{};
  const auto look_up = [](auto& function, const char* name) {
    function =
        reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(RTLD_NEXT, name));
    if (function == nullptr) __builtin_trap();  // no program could run without it
  };
  look_up(found.posix_memalign, "posix_memalign");
  look_up(found.free, "free");
  look_up(found.realloc, "realloc");
  look_up(found.reallocarray, "reallocarray");
  look_up(found.malloc_usable_size, "malloc_usable_size");
  next_functions = found;  // several threads may do this at once, with the same values
  next_known.store(true, std::memory_order_release);
  looks_up = false;
  return next_functions;
}

// The owner of a guarded block; nullptr for a block of the C library.
TrialBlocks* owner(const void* address) {
  TrialBlocks* const all = process_blocks();
  return all != nullptr && all->owns(address) ? all : nullptr;
}

// Ends the process after an invalid free, as the C library does.
void free_owned(TrialBlocks& all, void* address) {
  const int before = errno;
  if (!all.free(address)) {
    std::fputs("redzone: free(): no live block starts there\n", stderr);
    std::abort();
  }
  errno = before;
}

}  // namespace
}  // namespace redzone::memory_preload

using namespace redzone::memory_preload;

// NOLINTBEGIN: names and parameters are the C library's
REDZONE_EXPORT int posix_memalign(void** out, std::size_t align, std::size_t bytes) noexcept {
  const int before = errno;
  if (void* const block = allocate_for(__builtin_return_address(0), bytes)) {
    *out = block;
    errno = before;
    return 0;
  }
  return next().posix_memalign(out, align, bytes);
}

REDZONE_EXPORT void free(void* address) noexcept {
  if (TrialBlocks* const all = owner(address)) return free_owned(*all, address);
  if (!looks_up) next().free(address);
}

REDZONE_EXPORT void* realloc(void* address, std::size_t bytes) noexcept {
  TrialBlocks* const all = owner(address);
  if (all == nullptr) return next().realloc(address, bytes);
  const auto held = all->bytes_of(address);
  void* const moved = bytes == 0 || !held ? nullptr : std::malloc(bytes);
  if (held && bytes != 0 && moved == nullptr) return nullptr;
  if (moved != nullptr) std::memcpy(moved, address, std::min(*held, bytes));
  free_owned(*all, address);
  return moved;
}

REDZONE_EXPORT void* reallocarray(void* address, std::size_t count, std::size_t bytes) noexcept {
  if (owner(address) == nullptr) return next().reallocarray(address, count, bytes);
  std::size_t all = 0;
  if (__builtin_mul_overflow(count, bytes, &all)) {
    errno = ENOMEM;
    return nullptr;
  }
  return realloc(address, all);
}

REDZONE_EXPORT std::size_t malloc_usable_size(void* address) noexcept {
  if (TrialBlocks* const all = owner(address)) return all->bytes_of(address).value_or(0);
  return next().malloc_usable_size(address);
}
// NOLINTEND

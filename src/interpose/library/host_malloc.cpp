// Replaces malloc() and related functions for the program. They may be called before this library
// has started, while it starts, and by functions that it calls itself; then the next definition
// handles the call.
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <type_traits>

#include "interpose/backtrace.h"
#include "interpose/host_memory.h"
#include "interpose/internal_scope.h"
#include "interpose/library/export.h"
#include "interpose/library/guard.h"
#include "interpose/library/host_guard.h"
#include "interpose/library/real_symbols.h"
#include "interpose/python_stack.h"

namespace redzone::interpose {
namespace {

alignas(HostMemory) constinit unsigned char memory_room[sizeof(HostMemory)] = {};
constinit std::atomic<HostMemory*> memory{nullptr};

// The next definitions. All are looked up at the first use of any: a lookup frees memory that an
// earlier lookup left behind, so free() must never be the function that triggers the lookup.
struct Next {
  void* (*malloc)(std::size_t);
  void (*free)(void*);
  void* (*calloc)(std::size_t, std::size_t);
  void* (*realloc)(void*, std::size_t);
  int (*posix_memalign)(void**, std::size_t, std::size_t);
  void* (*aligned_alloc)(std::size_t, std::size_t);
  void* (*memalign)(std::size_t, std::size_t);
  void* (*valloc)(std::size_t);
  void* (*pvalloc)(std::size_t);
  std::size_t (*malloc_usable_size)(void*);
};
constinit Next next_functions{};
constinit std::atomic<bool> next_known{false};

const Next& next() {
  if (next_known.load(std::memory_order_acquire)) return next_functions;
  Next found{};
  const auto look_up = [](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(real_function(name));
    if (function == nullptr) __builtin_trap();  // no program could run without it
  };
  look_up(found.malloc, "malloc");
  look_up(found.free, "free");
  look_up(found.calloc, "calloc");
  look_up(found.realloc, "realloc");
  look_up(found.posix_memalign, "posix_memalign");
  look_up(found.aligned_alloc, "aligned_alloc");
  look_up(found.memalign, "memalign");
  look_up(found.valloc, "valloc");
  look_up(found.pvalloc, "pvalloc");
  look_up(found.malloc_usable_size, "malloc_usable_size");
  next_functions = found;  // several threads may do this at once, with the same values
  next_known.store(true, std::memory_order_release);
  return next_functions;
}

bool is_power_of_two(std::size_t n) {
  return n != 0 && (n & (n - 1)) == 0;
}

// Returns nullptr if the next definition must handle the call.
void* guarded(std::size_t bytes, std::size_t align, bool zero) {
  HostMemory* const host = memory.load(std::memory_order_acquire);
  if (host == nullptr || bytes < settings().min_bytes || bytes > PTRDIFF_MAX ||
      InternalScope::active())
    return nullptr;
  const InternalScope scope;
  const int before = errno;
  Frames from;
  take_backtrace(from);
  take_python_stack(recorder(), from);
  void* const block = host->allocate(bytes, align, zero, from);
  errno = before;
  return block;
}

HostMemory* owner(const void* address) {
  HostMemory* const host = memory.load(std::memory_order_acquire);
  return host != nullptr && host->owns(address) ? host : nullptr;
}

void free_guarded(HostMemory& host, void* address, const char* call) {
  const InternalScope scope;
  const int before = errno;
  Frames from;
  take_backtrace(from);
  take_python_stack(recorder(), from);
  host.free(address, call, from);
  errno = before;
}

}  // namespace

HostMemory* host_guard() {
  return memory.load(std::memory_order_acquire);
}

bool is_guarded_host_block(const void* address) {
  HostMemory* const host = owner(address);
  return host != nullptr && host->bytes_of(address) != 0;
}

bool open_host_guard() {
  auto* const made = new (memory_room) HostMemory(settings(), recorder());
  if (!made->reserve()) return false;
  memory.store(made, std::memory_order_release);
  return true;
}

}  // namespace redzone::interpose

using namespace redzone::interpose;

// NOLINTBEGIN: names and parameters are the C library's
REDZONE_EXPORT void* malloc(std::size_t bytes) noexcept {
  if (void* const block = guarded(bytes, 0, false)) return block;
  return next().malloc(bytes);
}

REDZONE_EXPORT void free(void* address) noexcept {
  if (HostMemory* const host = owner(address)) return free_guarded(*host, address, "free");
  next().free(address);
}

REDZONE_EXPORT void* calloc(std::size_t count, std::size_t bytes) noexcept {
  std::size_t all = 0;
  if (!__builtin_mul_overflow(count, bytes, &all))
    if (void* const block = guarded(all, 0, true)) return block;
  return next().calloc(count, bytes);
}

REDZONE_EXPORT void* realloc(void* address, std::size_t bytes) noexcept {
  HostMemory* const host = owner(address);
  if (host == nullptr) {
    if (address == nullptr) return malloc(bytes);
    void* const moved = guarded(bytes, 0, false);
    if (moved == nullptr) return next().realloc(address, bytes);
    std::memcpy(moved, address, std::min(next().malloc_usable_size(address), bytes));
    next().free(address);
    return moved;
  }
  if (bytes == 0) {
    free_guarded(*host, address, "realloc");
    return nullptr;
  }
  const std::size_t before = host->bytes_of(address);
  if (before == 0) {  // not a live block: report it; nothing can be moved
    free_guarded(*host, address, "realloc");
    errno = ENOMEM;
    return nullptr;
  }
  void* const moved = malloc(bytes);
  if (moved == nullptr) return nullptr;
  std::memcpy(moved, address, before < bytes ? before : bytes);
  free_guarded(*host, address, "realloc");
  return moved;
}

REDZONE_EXPORT void* reallocarray(void* address, std::size_t count, std::size_t bytes) noexcept {
  std::size_t all = 0;
  if (__builtin_mul_overflow(count, bytes, &all)) {
    errno = ENOMEM;
    return nullptr;
  }
  return realloc(address, all);
}

REDZONE_EXPORT int posix_memalign(void** out, std::size_t align, std::size_t bytes) noexcept {
  if (is_power_of_two(align) && align % sizeof(void*) == 0)
    if (void* const block = guarded(bytes, align, false)) {
      *out = block;
      return 0;
    }
  return next().posix_memalign(out, align, bytes);
}

REDZONE_EXPORT void* aligned_alloc(std::size_t align, std::size_t bytes) noexcept {
  if (is_power_of_two(align))
    if (void* const block = guarded(bytes, align, false)) return block;
  return next().aligned_alloc(align, bytes);
}

REDZONE_EXPORT void* memalign(std::size_t align, std::size_t bytes) noexcept {
  if (is_power_of_two(align))
    if (void* const block = guarded(bytes, align, false)) return block;
  return next().memalign(align, bytes);
}

REDZONE_EXPORT void* valloc(std::size_t bytes) noexcept {
  if (void* const block = guarded(bytes, static_cast<std::size_t>(::getpagesize()), false))
    return block;
  return next().valloc(bytes);
}

REDZONE_EXPORT void* pvalloc(std::size_t bytes) noexcept {
  const auto page = static_cast<std::size_t>(::getpagesize());
  if (bytes <= PTRDIFF_MAX)
    if (void* const block = guarded((bytes + page - 1) / page * page, page, false)) return block;
  return next().pvalloc(bytes);
}

REDZONE_EXPORT std::size_t malloc_usable_size(void* address) noexcept {
  if (HostMemory* const host = owner(address)) return host->bytes_of(address);
  return next().malloc_usable_size(address);
}
// NOLINTEND

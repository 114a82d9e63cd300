// The start-up proof: allocations of the guard itself, made the way a program makes them, must
// reach the guard. A process in which they do not is never counted as judged.
#include <dlfcn.h>

#include <atomic>
#include <cstdlib>

#include "interpose/backtrace.h"
#include "interpose/host_memory.h"
#include "interpose/internal_scope.h"
#include "interpose/library/driver_calls.h"
#include "interpose/library/guard.h"
#include "interpose/library/host_guard.h"
#include "interpose/library/real_symbols.h"

namespace redzone::interpose {
namespace {

using Dlsym = void* (*)(void*, const char*);
using Allocate = int (*)(CuAddress*, std::size_t);
using Free = int (*)(CuAddress);
using GetProcAddress = int (*)(const char*, void**, int, std::uint64_t, int*);

constexpr std::size_t kProofBytes = 24;
constexpr int kProofVersion = 12000;

// Allocates and frees with these functions; true if the guard has seen both calls.
bool passes_through(DriverGuard& guard, void* allocate, void* free) {
  if (allocate == nullptr || free == nullptr) return false;
  CuAddress at = 0;
  if (reinterpret_cast<Allocate>(allocate)(&at, kProofBytes) != kCuSuccess) return false;
  const auto block = guard.memory.find(at);
  const bool seen = block && block->address == at && block->bytes == kProofBytes;
  return reinterpret_cast<Free>(free)(at) == kCuSuccess && seen && !guard.memory.find(at);
}

bool prove(DriverGuard& guard) {
  // Look it up as the program does, not as this library is linked.
  const auto lookup = reinterpret_cast<Dlsym>(real_dlsym(RTLD_DEFAULT, "dlsym"));
  void* const library = real_dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (lookup == nullptr || library == nullptr) return false;
  if (!passes_through(guard, lookup(library, "cuMemAlloc_v2"), lookup(library, "cuMemFree_v2")))
    return false;
  // The functions that a program linked with the driver calls.
  if (!passes_through(guard, lookup(RTLD_DEFAULT, "cuMemAlloc_v2"),
                      lookup(RTLD_DEFAULT, "cuMemFree_v2")))
    return false;
  auto* const request = reinterpret_cast<GetProcAddress>(lookup(library, "cuGetProcAddress_v2"));
  if (request == nullptr) return true;  // a driver before CUDA 12 lacks this function
  void *allocate = nullptr, *free = nullptr;
  int status = 0;
  return request("cuMemAlloc", &allocate, kProofVersion, 0, &status) == kCuSuccess &&
         request("cuMemFree", &free, kProofVersion, 0, &status) == kCuSuccess &&
         passes_through(guard, allocate, free);
}

}  // namespace

void prove_driver_guard(DriverGuard& guard) {
  // 0: not begun, 1: running in this or another thread, 2: done.
  static constinit std::atomic<int> state{0};
  static thread_local constinit bool own = false;
  if (state.load(std::memory_order_acquire) == 2 || own) return;
  // Nothing can be mapped during a capture; the next allocation after the capture runs the proof.
  if (guard.memory.capturing()) return;
  CuContext context = nullptr;
  if (guard.driver.get_context(&context) != kCuSuccess || context == nullptr) return;
  int expected = 0;
  if (!state.compare_exchange_strong(expected, 1)) {
    while (state.load(std::memory_order_acquire) == 1) __builtin_ia32_pause();
    return;
  }
  own = true;
  note_torch();
  recorder().note(Fact::driver_seen);
  recorder().note(prove(guard) ? Fact::driver_proven : Fact::driver_unproven);
  own = false;
  guard.memory.begin_program();
  // Registered after the driver's own exit handler and so called before it: canaries of blocks that
  // are never freed are compared while the driver still works.
  const auto settle = [] {
    if (DriverGuard* const used = driver_guard_in_use()) {
      const InternalScope scope;
      used->holds.release();
      used->memory.settle();
    }
  };
  std::atexit(settle);
  std::at_quick_exit(settle);
  state.store(2, std::memory_order_release);
}

void prove_host_guard() {
  // Look them up as the program does, because a program may have its own allocator.
  auto* const allocate =
      reinterpret_cast<void* (*)(std::size_t)>(real_dlsym(RTLD_DEFAULT, "malloc"));
  auto* const release = reinterpret_cast<void (*)(void*)>(real_dlsym(RTLD_DEFAULT, "free"));
  if (allocate == nullptr || release == nullptr) return;
  void* const block = allocate(settings().min_bytes);
  const bool seen = is_guarded_host_block(block);
  release(block);
  if (seen && !is_guarded_host_block(block)) recorder().note(Fact::cpu_proven);
  if (HostMemory* const host = host_guard()) host->begin_program();
}

}  // namespace redzone::interpose

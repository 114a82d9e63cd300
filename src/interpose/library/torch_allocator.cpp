// The functions that PyTorch's pluggable allocator calls (torch.cuda.memory.CUDAPluggableAllocator,
// torch/csrc/cuda/CUDAPluggableAllocator.h), and those for its setters. The program's Python
// registers them when it imports torch (python/guard).
#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>

#include "interpose/backtrace.h"
#include "interpose/current_context.h"
#include "interpose/internal_scope.h"
#include "interpose/library/driver_calls.h"
#include "interpose/library/driver_stand_ins.h"
#include "interpose/library/guard.h"
#include "interpose/library/real_symbols.h"
#include "interpose/python_stack.h"

namespace redzone::interpose {
namespace {

// The C layout of PyTorch's pool identifier, a std::pair of two numbers.
struct PoolNumber {
  std::uint64_t first, second;
};

// Makes the device's primary context current, because PyTorch leaves this to the first call that
// needs a context. Does nothing if a context of the device is current.
class OnDevice {
 public:
  OnDevice(const Driver& driver, CuDevice device) {
    CuContext context = nullptr;
    CuDevice now = 0;
    if (driver.get_context(&context) == kCuSuccess && context != nullptr &&
        driver.get_device(&now) == kCuSuccess && now == device)
      return;
    context = driver.primary_context(device);
    // The context stays until the process ends, like one that the runtime creates.
    if (context == nullptr && driver.retain_primary != nullptr &&
        driver.retain_primary(&context, device) != kCuSuccess)
      return;
    current_.emplace(driver, context);
  }

 private:
  std::optional<CurrentContext> current_;
};

// PyTorch uses any returned pointer as memory, even a null pointer, but propagates exceptions. The
// exception must be thrown by the program's C++ library, not by the one linked into this library.
[[noreturn]] void refuse_memory() {
  void* const library = real_dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD);
  void* const found =
      library == nullptr ? nullptr : real_dlsym(library, "_ZSt17__throw_bad_allocv");
  if (found != nullptr) reinterpret_cast<void (*)()>(found)();
  constexpr char text[] = "redzone: guard: the device has no memory for a tensor of PyTorch\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text, sizeof text - 1);
  std::abort();
}

CuAddress torch_block(DriverGuard& guard, std::size_t bytes, CuDevice device, CuStream stream) {
  const OnDevice on(guard.driver, device);
  prove_driver_guard(guard);
  Frames from;
  take_backtrace(from);
  learn_python();
  take_python_stack(recorder(), from);
  const InternalScope scope;
  return guard.torch.allocate(bytes, legacy_stream(stream), from);
}

CuAddress address_of(void* block) {
  return reinterpret_cast<CuAddress>(block);
}

}  // namespace
}  // namespace redzone::interpose

using namespace redzone::interpose;

// NOLINTBEGIN: the names are of a C interface, and its types are PyTorch's
REDZONE_EXPORT void* redzone_guard_malloc(std::ptrdiff_t bytes, int device, CuStream stream) {
  if (bytes <= 0) return nullptr;
  if (guarding()) recorder().note(Fact::torch_replaced);
  const auto size = static_cast<std::size_t>(bytes);
  CuAddress out = 0;
  if (DriverGuard* const guard = driver_guard())
    out = torch_block(*guard, size, device, stream);
  else
    forward(Call::mem_alloc, &out, size);
  if (out == 0) refuse_memory();
  return reinterpret_cast<void*>(out);
}

REDZONE_EXPORT void redzone_guard_free(void* block, std::ptrdiff_t, int device, CuStream stream) {
  if (block == nullptr) return;
  DriverGuard* const guard = driver_guard();
  if (guard == nullptr) {
    forward(Call::mem_free, address_of(block));
    return;
  }
  // The thread that frees may have another device current, or none.
  const OnDevice on(guard->driver, device);
  Frames from;
  take_backtrace(from);
  take_python_stack(recorder(), from);
  const InternalScope scope;
  guard->torch.free(address_of(block), legacy_stream(stream), from);
}

REDZONE_EXPORT void redzone_guard_record_stream(void* block, CuStream stream) {
  const InternalScope scope;
  if (DriverGuard* const guard = driver_guard())
    guard->torch.record_stream(address_of(block), legacy_stream(stream));
}

// The last argument is a C++ object that selects the streams of the capture. It is not used.
REDZONE_EXPORT void redzone_guard_begin_pool(int, PoolNumber pool, const void*) {
  const InternalScope scope;
  if (DriverGuard* const guard = driver_guard()) guard->torch.begin_pool({pool.first, pool.second});
}

REDZONE_EXPORT void redzone_guard_end_pool(int, PoolNumber pool) {
  const InternalScope scope;
  if (DriverGuard* const guard = driver_guard()) guard->torch.end_pool({pool.first, pool.second});
}

REDZONE_EXPORT void redzone_guard_release_pool(int, PoolNumber pool) {
  const InternalScope scope;
  if (DriverGuard* const guard = driver_guard())
    guard->torch.release_pool({pool.first, pool.second});
}

// Returns 1 if this process guards allocations of the driver, so that the functions above may be
// used.
REDZONE_EXPORT int redzone_guard_is_on() {
  return guarding() && settings().driver ? 1 : 0;
}

// Records that CuPy allocates without its pool from now on.
REDZONE_EXPORT void redzone_guard_cupy_replaced() {
  if (guarding()) recorder().note(Fact::cupy_replaced);
}
// NOLINTEND

// The notifications that a plugin sends to the host device when it is built for `redzone run
// --checks`: every access of its kernels, synchronization that orders accesses, and behavior that
// is undefined in C++. Included by <redzone/host_kernel.h> only.
//
// Such a plugin is compiled with -fsanitize=thread and parts of -fsanitize=undefined and with
// -DREDZONE_CHECKED, and linked without -fsanitize: the compiler's calls go to the functions below
// instead of the sanitizers' own, which stop at the first report or report each place once per
// process. Without REDZONE_CHECKED all of these functions are empty.
#pragma once

#include <cstddef>
#include <cstdint>

namespace redzone::host {

enum class AccessKind : std::uint8_t {
  read,
  write,
  // Atomic functions and volatile accesses: two of them do not race with each other.
  atomic_read,
  atomic_write,
  atomic_update,  // reads and writes
};

inline constexpr bool is_atomic(AccessKind kind) {
  return kind >= AccessKind::atomic_read;
}
inline constexpr bool is_write(AccessKind kind) {
  return kind != AccessKind::read && kind != AccessKind::atomic_read;
}

// The threads whose accesses a fence orders: those of the block, or all threads.
enum class FenceScope : std::uint8_t { block, device };

// Undefined behavior that the compiler's instrumentation found.
struct Undefined {
  const char* kind = "";  // kind of the record: "undefined-shift"
  const char* file = "";
  std::uint32_t line = 0;
  const void* at = nullptr;  // address of a misaligned access
};

// Implemented by the host device. The running CUDA thread calls all members, before the operation
// that they announce. `code`: an address within the kernel, just behind the access.
class AccessSink {
 public:
  virtual void access(const void* at, std::size_t bytes, AccessKind kind, const void* code) = 0;
  virtual void fence(FenceScope scope) = 0;
  // A barrier in memory (<redzone/bulk_copy.h>): the thread arrives, or has waited for the others.
  virtual void arrive(const void* barrier) = 0;
  virtual void waited(const void* barrier) = 0;
  // The thread is about to wait at a barrier of the block, or in a warp operation with this mask.
  virtual void at_barrier(const void* code) = 0;
  virtual void in_warp(std::uint32_t mask, const void* code) = 0;
  virtual void undefined(const Undefined& found) = 0;

 protected:
  ~AccessSink() = default;
};

}  // namespace redzone::host

#ifdef REDZONE_CHECKED

#include <redzone/host_thread.h>

// For a function that announces its accesses itself.
#define REDZONE_UNCHECKED __attribute__((no_sanitize("thread", "undefined"), noinline))
#define REDZONE_CODE __builtin_return_address(0)

namespace redzone::host {

// One per shared object, like `self`.
__attribute__((visibility("hidden"))) inline AccessSink* access_sink = nullptr;
// Its first use creates the thread-local storage of the shared object, which contains the
// `__shared__` variables.
__attribute__((visibility("hidden"))) inline thread_local volatile char storage_mark = 0;

// Null outside of kernels.
__attribute__((no_sanitize("thread"))) inline AccessSink* running_sink() {
  return self.runtime == nullptr ? nullptr : access_sink;
}

__attribute__((no_sanitize("thread"))) inline void note_access(const void* at, std::size_t bytes,
                                                               AccessKind kind, const void* code) {
  // Most accesses are to the thread's own stack, or to its indices.
  constexpr std::uintptr_t kStackBytes = std::uintptr_t{1} << 20;
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  const auto frame = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  if (address - frame + kStackBytes < 2 * kStackBytes) return;
  if (address - reinterpret_cast<std::uintptr_t>(&self) < sizeof self) return;
  if (AccessSink* sink = running_sink()) sink->access(at, bytes, kind, code);
}
__attribute__((no_sanitize("thread"))) inline void note_fence(FenceScope scope) {
  if (AccessSink* sink = running_sink()) sink->fence(scope);
}
__attribute__((no_sanitize("thread"))) inline void note_arrive(const void* barrier) {
  if (AccessSink* sink = running_sink()) sink->arrive(barrier);
}
__attribute__((no_sanitize("thread"))) inline void note_waited(const void* barrier) {
  if (AccessSink* sink = running_sink()) sink->waited(barrier);
}
REDZONE_UNCHECKED inline void note_barrier() {
  if (AccessSink* sink = running_sink()) sink->at_barrier(REDZONE_CODE);
}
REDZONE_UNCHECKED inline void note_warp(std::uint32_t mask) {
  if (AccessSink* sink = running_sink()) sink->in_warp(mask, REDZONE_CODE);
}

// The first fields of the data that the compiler passes for each place.
struct UndefinedPlace {
  const char* file;
  std::uint32_t line, column;
};
__attribute__((no_sanitize("thread", "undefined"))) inline void note_undefined(const void* data,
                                                                               const char* kind,
                                                                               const void* at) {
  const auto& place = *static_cast<const UndefinedPlace*>(data);
  if (AccessSink* sink = running_sink()) sink->undefined({kind, place.file, place.line, at});
}

}  // namespace redzone::host

// Functions that the compiler calls. `used`, because nothing in the source calls them.
#define REDZONE_CALLED_BY_COMPILER \
  __attribute__((visibility("hidden"), no_sanitize("thread", "undefined"), used)) inline
#define REDZONE_NOTE(kind) \
  ::redzone::host::note_access(at, bytes, ::redzone::host::AccessKind::kind, REDZONE_CODE)
#define REDZONE_ACCESSES(size)                                            \
  REDZONE_CALLED_BY_COMPILER void __tsan_read##size(void* at) {           \
    constexpr std::size_t bytes = size;                                   \
    REDZONE_NOTE(read);                                                   \
  }                                                                       \
  REDZONE_CALLED_BY_COMPILER void __tsan_write##size(void* at) {          \
    constexpr std::size_t bytes = size;                                   \
    REDZONE_NOTE(write);                                                  \
  }                                                                       \
  REDZONE_CALLED_BY_COMPILER void __tsan_volatile_read##size(void* at) {  \
    constexpr std::size_t bytes = size;                                   \
    REDZONE_NOTE(atomic_read);                                            \
  }                                                                       \
  REDZONE_CALLED_BY_COMPILER void __tsan_volatile_write##size(void* at) { \
    constexpr std::size_t bytes = size;                                   \
    REDZONE_NOTE(atomic_write);                                           \
  }
// NOLINTBEGIN(bugprone-reserved-identifier): the names are the compiler's
extern "C" {

REDZONE_ACCESSES(1)
REDZONE_ACCESSES(2)
REDZONE_ACCESSES(4)
REDZONE_ACCESSES(8)
REDZONE_ACCESSES(16)
REDZONE_CALLED_BY_COMPILER void __tsan_read_range(void* at, std::size_t bytes) {
  REDZONE_NOTE(read);
}
REDZONE_CALLED_BY_COMPILER void __tsan_write_range(void* at, std::size_t bytes) {
  REDZONE_NOTE(write);
}
REDZONE_CALLED_BY_COMPILER void __tsan_init() {}
REDZONE_CALLED_BY_COMPILER void __tsan_func_entry(void*) {}
REDZONE_CALLED_BY_COMPILER void __tsan_func_exit(void*) {}
REDZONE_CALLED_BY_COMPILER void __tsan_vptr_update(void*, void*) {}
REDZONE_CALLED_BY_COMPILER void __tsan_vptr_read(void*) {}

// Atomics of std::atomic and of the compiler. A memory order with a release has the effect of a
// fence.
#define REDZONE_ATOMIC(kind)                                                                       \
  if (order >= __ATOMIC_RELEASE) ::redzone::host::note_fence(::redzone::host::FenceScope::device); \
  ::redzone::host::note_access(const_cast<const void*>(static_cast<const volatile void*>(at)),     \
                               sizeof *at, ::redzone::host::AccessKind::kind, REDZONE_CODE)
#define REDZONE_UPDATE(bits, type, name)                                                      \
  REDZONE_CALLED_BY_COMPILER type __tsan_atomic##bits##_##name(volatile type* at, type value, \
                                                               int order) {                   \
    REDZONE_ATOMIC(atomic_update);                                                            \
    return __atomic_##name(at, value, __ATOMIC_SEQ_CST);                                      \
  }
#define REDZONE_EXCHANGE(bits, type, strength)                                       \
  REDZONE_CALLED_BY_COMPILER bool __tsan_atomic##bits##_compare_exchange_##strength( \
      volatile type* at, type* expected, type value, int order, int) {               \
    REDZONE_ATOMIC(atomic_update);                                                   \
    return __atomic_compare_exchange_n(at, expected, value, false, __ATOMIC_SEQ_CST, \
                                       __ATOMIC_SEQ_CST);                            \
  }
#define REDZONE_ATOMICS(bits, type)                                                             \
  REDZONE_CALLED_BY_COMPILER type __tsan_atomic##bits##_load(const volatile type* at, int) {    \
    constexpr int order = __ATOMIC_RELAXED;                                                     \
    REDZONE_ATOMIC(atomic_read);                                                                \
    return __atomic_load_n(at, __ATOMIC_SEQ_CST);                                               \
  }                                                                                             \
  REDZONE_CALLED_BY_COMPILER void __tsan_atomic##bits##_store(volatile type* at, type value,    \
                                                              int order) {                      \
    REDZONE_ATOMIC(atomic_write);                                                               \
    __atomic_store_n(at, value, __ATOMIC_SEQ_CST);                                              \
  }                                                                                             \
  REDZONE_CALLED_BY_COMPILER type __tsan_atomic##bits##_exchange(volatile type* at, type value, \
                                                                 int order) {                   \
    REDZONE_ATOMIC(atomic_update);                                                              \
    return __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST);                                    \
  }                                                                                             \
  REDZONE_UPDATE(bits, type, fetch_add)                                                         \
  REDZONE_UPDATE(bits, type, fetch_sub)                                                         \
  REDZONE_UPDATE(bits, type, fetch_and)                                                         \
  REDZONE_UPDATE(bits, type, fetch_or)                                                          \
  REDZONE_UPDATE(bits, type, fetch_xor)                                                         \
  REDZONE_UPDATE(bits, type, fetch_nand)                                                        \
  REDZONE_EXCHANGE(bits, type, strong)                                                          \
  REDZONE_EXCHANGE(bits, type, weak)
REDZONE_ATOMICS(8, unsigned char)
REDZONE_ATOMICS(16, unsigned short)
REDZONE_ATOMICS(32, unsigned int)
REDZONE_ATOMICS(64, unsigned long)
REDZONE_CALLED_BY_COMPILER void __tsan_atomic_thread_fence(int) {
  ::redzone::host::note_fence(::redzone::host::FenceScope::device);
}
REDZONE_CALLED_BY_COMPILER void __tsan_atomic_signal_fence(int) {}
#undef REDZONE_ATOMICS
#undef REDZONE_EXCHANGE
#undef REDZONE_UPDATE
#undef REDZONE_ATOMIC

REDZONE_CALLED_BY_COMPILER void __ubsan_handle_add_overflow(void* data, void*, void*) {
  ::redzone::host::note_undefined(data, "undefined-overflow", nullptr);
}
REDZONE_CALLED_BY_COMPILER void __ubsan_handle_sub_overflow(void* data, void*, void*) {
  ::redzone::host::note_undefined(data, "undefined-overflow", nullptr);
}
REDZONE_CALLED_BY_COMPILER void __ubsan_handle_mul_overflow(void* data, void*, void*) {
  ::redzone::host::note_undefined(data, "undefined-overflow", nullptr);
}
REDZONE_CALLED_BY_COMPILER void __ubsan_handle_negate_overflow(void* data, void*) {
  ::redzone::host::note_undefined(data, "undefined-overflow", nullptr);
}
REDZONE_CALLED_BY_COMPILER void __ubsan_handle_divrem_overflow(void* data, void*, void*) {
  ::redzone::host::note_undefined(data, "undefined-division", nullptr);
}
REDZONE_CALLED_BY_COMPILER void __ubsan_handle_shift_out_of_bounds(void* data, void*, void*) {
  ::redzone::host::note_undefined(data, "undefined-shift", nullptr);
}
REDZONE_CALLED_BY_COMPILER void __ubsan_handle_out_of_bounds(void* data, void*) {
  ::redzone::host::note_undefined(data, "undefined-index", nullptr);
}
REDZONE_CALLED_BY_COMPILER void __ubsan_handle_type_mismatch_v1(void* data, void* at) {
  ::redzone::host::note_undefined(data, "misaligned-access", at);
}

// With --wrap, these replace calls that the compiler does not inline.
void* __real_memcpy(void*, const void*, std::size_t) __attribute__((weak));
void* __real_memmove(void*, const void*, std::size_t) __attribute__((weak));
void* __real_memset(void*, int, std::size_t) __attribute__((weak));
REDZONE_CALLED_BY_COMPILER void* __wrap_memcpy(void* to, const void* from, std::size_t bytes) {
  using ::redzone::host::AccessKind;
  ::redzone::host::note_access(from, bytes, AccessKind::read, REDZONE_CODE);
  ::redzone::host::note_access(to, bytes, AccessKind::write, REDZONE_CODE);
  return __real_memcpy(to, from, bytes);
}
REDZONE_CALLED_BY_COMPILER void* __wrap_memmove(void* to, const void* from, std::size_t bytes) {
  using ::redzone::host::AccessKind;
  ::redzone::host::note_access(from, bytes, AccessKind::read, REDZONE_CODE);
  ::redzone::host::note_access(to, bytes, AccessKind::write, REDZONE_CODE);
  return __real_memmove(to, from, bytes);
}
REDZONE_CALLED_BY_COMPILER void* __wrap_memset(void* at, int value, std::size_t bytes) {
  REDZONE_NOTE(write);
  return __real_memset(at, value, bytes);
}

// Called by the host device before it launches a kernel of this shared object. The number in the
// name grows with AccessSink, so that a plugin that was built for another AccessSink is refused
// instead of being run unchecked.
__attribute__((visibility("default"), no_sanitize("thread"), used)) inline void
redzone_set_access_sink_2(::redzone::host::AccessSink* sink) {
  ::redzone::host::storage_mark = 1;
  ::redzone::host::access_sink = sink;
}

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier)
#undef REDZONE_ACCESSES
#undef REDZONE_NOTE
#undef REDZONE_CALLED_BY_COMPILER

#else

#define REDZONE_UNCHECKED
#define REDZONE_CODE nullptr

namespace redzone::host {

inline void note_access(const void*, std::size_t, AccessKind, const void*) {}
inline void note_fence(FenceScope) {}
inline void note_arrive(const void*) {}
inline void note_waited(const void*) {}
inline void note_barrier() {}
inline void note_warp(std::uint32_t) {}

}  // namespace redzone::host

#endif

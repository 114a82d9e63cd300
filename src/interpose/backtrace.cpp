#include "interpose/backtrace.h"

#include <unwind.h>

#include <atomic>
#include <cstddef>

// Bounds of the object that contains this code, from the linker.
extern "C" {
// NOLINTNEXTLINE(bugprone-reserved-identifier): the linker's name
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char etext[] __attribute__((visibility("hidden")));
}

namespace redzone::interpose {
namespace {

// A stack that was walked before. A program allocates at the same places again and again. If each
// return address is still in the same place, the stack is unchanged: two frames with the same
// return address have their next frame at the same distance.
struct KnownStack {
  std::atomic_flag busy;
  std::uint64_t at = 0;  // the stack pointer during the walk
  std::size_t count = 0;
  std::uint64_t places[kFrames] = {};  // addresses of the return addresses, innermost first
  std::uint64_t returns[kFrames] = {};

  // Reads upwards from `now` in the stack of the calling thread until an entry differs from the
  // recorded one.
  bool is_that_of(std::uint64_t now) const {
    if (count == 0 || at != now) return false;
    for (std::size_t i = 0; i < count; ++i)
      if (*reinterpret_cast<const volatile std::uint64_t*>(places[i]) != returns[i]) return false;
    return true;
  }
};
constexpr std::size_t kKnownStacks = 512;
constinit KnownStack known_stacks[kKnownStacks];

struct Walk {
  Frames* out;
  std::uint64_t from = 0;  // skip frames before this address; 0: skip those of this object
  bool begun = false;
  std::uint64_t places[kFrames] = {};
  bool has_places = true;  // each return address was where a call stores it
};

bool is_own_code(std::uint64_t address) {
  return address >= reinterpret_cast<std::uint64_t>(&__ehdr_start[0]) &&
         address < reinterpret_cast<std::uint64_t>(&etext[0]);
}

_Unwind_Reason_Code visit(_Unwind_Context* context, void* argument) {
  auto& walk = *static_cast<Walk*>(argument);
  int before_instruction = 0;
  const std::uint64_t address = _Unwind_GetIPInfo(context, &before_instruction);
  if (address == 0) return _URC_END_OF_STACK;
  if (!walk.begun) walk.begun = walk.from != 0 ? address == walk.from : !is_own_code(address);
  if (!walk.begun) return _URC_NO_REASON;
  // A call stores its return address below the frame that it returns to.
  const std::uint64_t place = _Unwind_GetCFA(context) - sizeof address;
  walk.places[walk.out->count] = place;
  walk.has_places = walk.has_places && before_instruction == 0 &&
                    *reinterpret_cast<const volatile std::uint64_t*>(place) == address;
  // A return address is that of the instruction after the call, which may belong to the next line.
  walk.out->addresses[walk.out->count++] = before_instruction != 0 ? address : address - 1;
  return walk.out->count == kFrames ? _URC_END_OF_STACK : _URC_NO_REASON;
}

}  // namespace

__attribute__((noinline)) void take_backtrace(Frames& out) {
  const auto now = reinterpret_cast<std::uint64_t>(__builtin_frame_address(0));
  const auto caller = reinterpret_cast<std::uint64_t>(__builtin_return_address(0));
  KnownStack& known = known_stacks[(now / sizeof now + caller) % kKnownStacks];
  // Another thread, or the code that a signal handler of this thread interrupted, may be using the
  // entry; then walk the stack.
  const bool own = !known.busy.test_and_set(std::memory_order_acquire);
  if (own && known.is_that_of(now)) {
    out.count = static_cast<std::uint32_t>(known.count);
    for (std::size_t i = 0; i < known.count; ++i) out.addresses[i] = known.returns[i] - 1;
    known.busy.clear(std::memory_order_release);
    return;
  }
  out.count = 0;
  Walk walk{&out};
  _Unwind_Backtrace(visit, &walk);
  if (!own) return;
  known.at = now;
  known.count = walk.has_places ? out.count : 0;
  for (std::size_t i = 0; i < known.count; ++i) {
    known.places[i] = walk.places[i];
    known.returns[i] = out.addresses[i] + 1;
  }
  known.busy.clear(std::memory_order_release);
}

void take_backtrace_from(std::uint64_t instruction, Frames& out) {
  out.count = 0;
  Walk walk{&out, instruction};
  _Unwind_Backtrace(visit, &walk);
  if (out.count == 0) {
    out.addresses[0] = instruction;
    out.count = 1;
  }
}

}  // namespace redzone::interpose

#include "interpose/backtrace.h"

#include <unwind.h>

#include <cstddef>

// Bounds of the object that contains this code, from the linker.
extern "C" {
// NOLINTNEXTLINE(bugprone-reserved-identifier): the linker's name
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char etext[] __attribute__((visibility("hidden")));
}

namespace redzone::interpose {
namespace {

struct Walk {
  Frames* out;
  std::uint64_t from = 0;  // skip frames before this address; 0: skip those of this object
  bool begun = false;
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
  // A return address is the instruction after the call, which may belong to the next line.
  walk.out->addresses[walk.out->count++] = before_instruction != 0 ? address : address - 1;
  return walk.out->count == kFrames ? _URC_END_OF_STACK : _URC_NO_REASON;
}

}  // namespace

void take_backtrace(Frames& out) {
  out.count = 0;
  Walk walk{&out};
  _Unwind_Backtrace(visit, &walk);
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

// The memory operand of an x86-64 vector instruction, for the handler of faults: an instruction
// that requires 16-byte alignment faults without an address.
#pragma once

#include <sys/ucontext.h>

#include <cstdint>
#include <optional>

#include "core/trial.h"

namespace redzone::device {

struct VectorAccess {
  std::uintptr_t address = 0;
  redzone::Access access = redzone::Access::read;
};

// Of the instruction at `code`, with these values of the registers. Nothing for other instructions
// than those of SSE, and the moves of AVX that require alignment; nor for operands relative to the
// instruction itself, which are constants. Safe in a signal handler.
std::optional<VectorAccess> vector_access(const std::uint8_t* code, const gregset_t& registers);

}  // namespace redzone::device

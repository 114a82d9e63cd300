// The memory operand of an x86-64 vector instruction, for the fault handler: an instruction that
// requires 16-byte alignment faults without an address.
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

// The memory access of the instruction at `code`, with these register values. Nullopt except for
// SSE instructions and for AVX moves that require alignment, and for operands relative to the
// instruction itself, which are constants. Safe in a signal handler.
std::optional<VectorAccess> vector_access(const std::uint8_t* code, const gregset_t& registers);

}  // namespace redzone::device

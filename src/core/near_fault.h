// What a fault tells about the address that was accessed: none, that of a buffer or near one, or
// one that the stack of a thread has no room for.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/trial.h"

namespace redzone {

// Fault::buffer, without a side, of an access beyond the end of a thread's stack.
inline constexpr std::string_view kStackBuffer = "stack";

// False if neither the device nor the signal tells which address was accessed: what knows the
// address of an access also knows whether it was a read or a write.
inline bool tells_address(const Fault& fault) {
  return fault.access != Access::unknown || !fault.buffer.empty();
}

inline bool is_stack_overflow(const Fault& fault) {
  return fault.buffer == kStackBuffer && fault.side == Side::unknown;
}

// Whether the address was probably meant for the buffer that is nearest to it.
inline bool is_near(const Fault& fault) {
  return !fault.buffer.empty() &&
         std::abs(fault.distance_bytes) <= static_cast<std::int64_t>(kNearBytes);
}

}  // namespace redzone

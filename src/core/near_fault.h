// Whether the address of a fault was probably meant for the buffer that is nearest to it.
#pragma once

#include <cstdint>
#include <cstdlib>

#include "core/trial.h"

namespace redzone {

inline bool is_near(const Fault& fault) {
  return !fault.buffer.empty() &&
         std::abs(fault.distance_bytes) <= static_cast<std::int64_t>(kNearBytes);
}

}  // namespace redzone

// The clock of leases, for the hub and the shards.
#pragma once

#include <chrono>

namespace redzone::fleet {

// Seconds since an arbitrary moment; only differences within one process are meaningful.
inline double monotonic_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace redzone::fleet

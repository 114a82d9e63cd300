// The clock of leases, on the hub as on the shards.
#pragma once

#include <chrono>

namespace redzone::fleet {

// Seconds since some moment; differences count, within one process.
inline double monotonic_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace redzone::fleet

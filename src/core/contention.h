// Contention: Redzone's own work that keeps a GPU busy beside a trial. Kernels then overlap and
// stall differently, which exposes missing waits and races that never show on an otherwise idle
// device.
#pragma once

#include <cstdint>

namespace redzone {

// Whether a trial with this Mode::schedule_seed has contention, on a device whose seeds decide it
// (SeedDecides::contention). Only one plan in 16 has it, because such a trial takes longer.
constexpr bool has_contention(std::uint64_t schedule_seed) {
  return schedule_seed % 16 == 1;
}

// The smallest seeds without and with contention.
inline constexpr std::uint64_t kIdleSeed = 0, kContendedSeed = 1;

}  // namespace redzone

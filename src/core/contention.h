// Work of Redzone's own that keeps a GPU busy beside a trial: kernels then overlap and stall in
// other ways, so that a missing wait or a race shows that never shows on a device that is idle
// otherwise.
#pragma once

#include <cstdint>

namespace redzone {

// Whether a trial with this Mode::schedule_seed has it, on a device whose seeds decide that
// (SeedDecides::contention). One plan in 16: such a trial takes longer.
constexpr bool has_contention(std::uint64_t schedule_seed) {
  return schedule_seed % 16 == 1;
}

// The simplest seeds without and with it.
inline constexpr std::uint64_t kIdleSeed = 0, kContendedSeed = 1;

}  // namespace redzone

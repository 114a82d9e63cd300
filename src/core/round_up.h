// Sizes in whole units: pages, granules, slots.
#pragma once

namespace redzone {

// The smallest multiple of `unit` that is at least `value`. Requires value >= 0, unit > 0, and that
// value + unit - 1 does not overflow.
template <class Integer>
constexpr Integer round_up(Integer value, Integer unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace redzone

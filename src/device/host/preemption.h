// Parameters that the seed of a schedule determines for one grid: how often threads and blocks are
// preempted, which warps and blocks starve, and for how long. All are bounded, so that a kernel
// that ends under a fair schedule also ends under these.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

#include "device/host/order.h"

namespace redzone::device {

// Yield points that a thread may pass in the natural order before it must yield.
inline constexpr int kNaturalQuantum = 64;

struct Preemption {
  // The mean number of yield points between two thread switches, and the mean number of rounds with
  // a yield before another block's turn. Frequent switches expose races between neighbouring
  // instructions, rare ones races between long stretches, so both are tried.
  int quantum = kNaturalQuantum;
  std::uint64_t one_in_yielding = 1;
  // The mean number of rounds that end in warp operations or at the barrier before another block's
  // turn; 0: blocks are not preempted there.
  std::uint64_t one_in_waiting = 0;
  // The number of rounds for which warps starve, and then for which no warp starves; 0: warps never
  // starve. A warp passes one warp operation per round, so the running warps get ahead by this many
  // operations, unless a barrier stops them.
  unsigned starved_rounds = 0;

  // The defaults, which are the natural order, for a natural Rng; otherwise random.
  static Preemption drawn(Rng& rng) {
    struct Rate {
      int quantum;
      std::uint64_t one_in_yielding;
    };
    static constexpr Rate kRates[] = {{2, 1}, {2, 4}, {16, 2}, {kNaturalQuantum, 16}};
    static constexpr std::uint64_t kWaiting[] = {0, 0, 64, 16};
    static constexpr unsigned kStarved[] = {0, 0, 16, 256};
    if (rng.natural()) return {};
    const Rate rate = kRates[rng.below(std::size(kRates))];
    const std::uint64_t waiting = kWaiting[rng.below(std::size(kWaiting))];
    return {.quantum = rate.quantum,
            .one_in_yielding = rate.one_in_yielding,
            .one_in_waiting = waiting,
            .starved_rounds = kStarved[rng.below(std::size(kStarved))]};
  }
};

// The warps that starve (as bits) in a block of `warps` (1 .. 32) warps: one of them, all but one,
// or a random set, which may be empty; never all.
inline std::uint32_t draw_starved_warps(unsigned warps, Rng& rng) {
  const std::uint32_t all = ~0u >> (32 - warps);
  const std::uint64_t r = rng.next();
  const std::uint32_t one = 1u << ((r >> 8) % warps);
  switch (r & 3) {
    case 0:
      return warps == 1 ? 0 : one;
    case 1:
      return all & ~one;
    default: {
      const std::uint32_t any = static_cast<std::uint32_t>(r >> 32) & all;
      return any == all ? any & ~one : any;
    }
  }
}

// Determines which of the blocks that were set aside continues: the one that has waited longest, as
// in the natural order; any; or the newest for several turns in succession, so that the others
// starve.
class AsideOrder {
 public:
  AsideOrder() = default;
  explicit AsideOrder(Rng& rng) {
    if (rng.natural()) return;
    const std::uint64_t r = rng.below(4);
    policy_ = r == 0 ? Policy::oldest : r == 1 ? Policy::any : Policy::newest;
    most_turns_ = r == 2 ? 4 : 32;
  }

  // Index of the next of `aside` (> 0) blocks, which are sorted from the oldest. `newest_waits`:
  // the newest block can only wait for others, which therefore come first.
  std::size_t next(std::size_t aside, bool newest_waits, Rng& rng) {
    if (policy_ == Policy::any) return rng.below(aside);
    if (policy_ == Policy::newest && !newest_waits && turns_ < most_turns_) {
      ++turns_;
      return aside - 1;
    }
    turns_ = 0;
    return 0;
  }

 private:
  enum class Policy : std::uint8_t { oldest, any, newest };

  Policy policy_ = Policy::oldest;
  unsigned most_turns_ = 0;  // maximum turns of the newest block in succession
  unsigned turns_ = 0;
};

}  // namespace redzone::device

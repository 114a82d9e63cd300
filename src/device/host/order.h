// Seeded decisions of the host scheduler. Everything random on the host device comes from one Rng,
// so that a trial is replayed exactly by its seed.
#pragma once

#include <cstdint>

#include "device/buffer_math.h"

namespace redzone::device {

class Rng {
 public:
  // Seed 0 is the natural order: no decision is random, and drawing is not allowed.
  explicit Rng(std::uint64_t seed = 0) : seed_(seed), state_(mix(seed)) {}

  bool natural() const { return seed_ == 0; }
  std::uint64_t seed() const { return seed_; }
  std::uint64_t next() { return mix(state_ += 0x9e3779b97f4a7c15ull); }
  // Below `n` (> 0); the bias is negligible here.
  std::uint64_t below(std::uint64_t n) { return next() % n; }

 private:
  std::uint64_t seed_;
  std::uint64_t state_;
};

// Visits 0 .. n-1 once each, in constant space: every `stride`th number, modulo n, with n and the
// stride coprime. Natural order, reverse order and scattered orders are all walks.
class Walk {
 public:
  Walk() = default;

  // Natural order for a natural Rng; otherwise natural, reversed or scattered.
  Walk(std::uint64_t n, Rng& rng) : n_(n) {
    if (rng.natural() || n < 2) return;
    const std::uint64_t r = rng.next();
    switch (r & 3) {
      case 0:
        return;
      case 1:
        position_ = n - 1;
        stride_ = n - 1;
        return;
      default:
        position_ = (r >> 8) % n;
        // Primes above the largest block size: coprime to every small n, and to all but a few large
        // n.
        static constexpr std::uint64_t kPrimes[] = {1031, 1093, 1259, 1409, 1553, 1747, 1999, 2311};
        const std::uint64_t prime = kPrimes[(r >> 4) & 7];
        stride_ = n % prime == 0 ? 1 : prime % n;
    }
  }

  std::uint64_t size() const { return n_; }
  bool done() const { return visited_ == n_; }
  // Requires that the walk is not done.
  std::uint64_t next() {
    const std::uint64_t at = position_;
    position_ = at >= n_ - stride_ ? at - (n_ - stride_) : at + stride_;
    ++visited_;
    return at;
  }

 private:
  std::uint64_t n_ = 0;
  std::uint64_t position_ = 0;
  std::uint64_t stride_ = 1;
  std::uint64_t visited_ = 0;
};

// The order in which the blocks of a grid start. As on a GPU, blocks start in index order within a
// window: fewer than `window` others may overtake a block. A block that waits for an earlier one (a
// look-back scan) therefore always makes progress, if a window of blocks fits.
class StartOrder {
 public:
  StartOrder() = default;
  StartOrder(std::uint64_t blocks, std::uint64_t window, Rng& rng)
      : blocks_(blocks), window_(window), walk_(blocks < window ? blocks : window, rng) {}

  bool done() const { return begin_ + walk_.size() == blocks_ && walk_.done(); }
  // Requires that not all blocks have started.
  std::uint64_t next(Rng& rng) {
    if (walk_.done()) {
      begin_ += walk_.size();
      const std::uint64_t left = blocks_ - begin_;
      walk_ = Walk(left < window_ ? left : window_, rng);
    }
    return begin_ + walk_.next();
  }

 private:
  std::uint64_t blocks_ = 0;
  std::uint64_t window_ = 1;
  std::uint64_t begin_ = 0;  // of the current window
  Walk walk_;
};

}  // namespace redzone::device

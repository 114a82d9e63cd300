// Random choices for the generators, on top of RapidCheck's splittable generator.
//
// All arithmetic is on integers (or compares exactly representable doubles), so that a seed gives
// the same choices on every machine. Not thread-safe; cheap to copy.
#pragma once

#include <rapidcheck/Random.h>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/error.h"

namespace redzone::generators {

class Draw {
 public:
  explicit Draw(const rc::Random& random) : random_(random) {}

  std::uint64_t bits() { return random_.next(); }

  // Uniform in [lo, hi], both included; requires lo <= hi.
  std::int64_t in_range(std::int64_t lo, std::int64_t hi) {
    const std::uint64_t width =
        // 0 means all 2^64 values
        static_cast<std::uint64_t>(hi) - static_cast<std::uint64_t>(lo) + 1;
    const std::uint64_t step = width == 0 ? bits() : bits() % width;
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(lo) + step);
  }
  std::size_t index(std::size_t size) {
    return static_cast<std::size_t>(bits() % static_cast<std::uint64_t>(size));
  }

  // Uniform in the number of bits, then in the value, so that each power-of-two range is equally
  // likely. Requires 1 <= lo <= hi.
  std::int64_t log_uniform(std::int64_t lo, std::int64_t hi) {
    const auto low_bits = std::bit_width(static_cast<std::uint64_t>(lo));
    const auto high_bits = std::bit_width(static_cast<std::uint64_t>(hi));
    const auto width = in_range(low_bits, high_bits);
    const std::int64_t from = std::int64_t{1} << (width - 1);
    const std::int64_t to = width >= 63 ? hi : (std::int64_t{1} << width) - 1;
    return in_range(from < lo ? lo : from, to > hi ? hi : to);
  }

  bool one_in(std::uint64_t n) { return bits() % n == 0; }
  bool chance(double p) { return static_cast<double>(bits() >> 11) * 0x1p-53 < p; }

  template <class T>
  const T& pick(std::span<const T> from) {
    return from[index(from.size())];
  }
  template <class T, std::size_t N>
  const T& pick(const T (&from)[N]) {
    return from[index(N)];
  }

  // Returns an index with probability proportional to its weight; at least one weight must be
  // positive.
  template <std::size_t N>
  std::size_t weighted(const int (&weights)[N]) {
    int total = 0;
    for (int w : weights) total += w;
    RZ_CHECK(total > 0);
    auto left = static_cast<int>(bits() % static_cast<std::uint64_t>(total));
    std::size_t i = 0;
    while (left >= weights[i]) left -= weights[i++];
    return i;
  }

 private:
  rc::Random random_;
};

}  // namespace redzone::generators

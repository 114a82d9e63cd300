#include "campaign/shard.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <charconv>

namespace redzone::campaign {
namespace {

// A bijection of 64-bit numbers whose results look unrelated for neighbours: the finalizer of
// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014).
std::uint64_t scattered(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace

Result<Shard> Shard::parse(std::string_view text) {
  const auto slash = text.find('/');
  const auto number = [](std::string_view digits) {
    int value = 0;
    const char* end = digits.data() + digits.size();
    const auto [rest, error] = std::from_chars(digits.data(), end, value);
    return error == std::errc() && rest == end ? value : 0;
  };
  Shard shard;
  if (slash != std::string_view::npos) {
    shard.index = number(text.substr(0, slash));
    shard.count = number(text.substr(slash + 1));
  }
  if (slash == std::string_view::npos || shard.index < 1 || shard.count < shard.index ||
      shard.count > kMost)
    return usage_error(fmt::format(
        "'{}' is not a shard: I/N is expected with 1 <= I <= N <= {}, like 2/3", text, kMost));
  return shard;
}

std::string Shard::text() const {
  return fmt::format("{}/{}", index, count);
}

bool Shard::owns(std::string_view key) const {
  return static_cast<int>(XXH3_64bits(key.data(), key.size()) % static_cast<std::uint64_t>(count)) +
             1 ==
         index;
}

std::uint64_t Shard::seed(std::uint64_t base, int part) const {
  return scattered(base + static_cast<std::uint64_t>(part) * kMost +
                   static_cast<std::uint64_t>(index - 1));
}

}  // namespace redzone::campaign

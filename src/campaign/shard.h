// Divides the work of one night between several runners, without overlap.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/error.h"

namespace redzone::campaign {

struct Shard {
  static constexpr int kMost = 4096;

  int index = 1;  // counted from 1
  int count = 1;

  // Parses text such as "2/3"; a usage error unless 1 <= index <= count <= kMost.
  static Result<Shard> parse(std::string_view text);
  std::string text() const;

  // Exactly one of `count` shards owns a key (the hash of a signature or the name of a plan file).
  bool owns(std::string_view key) const;

  // The seed of the generators. `base` is the night's seed, `part` counts from 0. Different shards
  // of one night, and different parts of a continued night, never have the same seed.
  std::uint64_t seed(std::uint64_t base, int part) const;
};

}  // namespace redzone::campaign

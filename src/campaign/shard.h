// Work of one night on several runners: each has its share, and no two have the same.
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

  // "2/3"; a usage error unless 1 <= index <= count <= kMost.
  static Result<Shard> parse(std::string_view text);
  std::string text() const;

  // Exactly one of `count` shards owns a key: the hash of a signature, the name of a plan file.
  bool owns(std::string_view key) const;

  // Of the generators. Two shards of one night, or a night that goes on and its earlier parts,
  // never have the same: `base` is the night's, `part` counts from 0.
  std::uint64_t seed(std::uint64_t base, int part) const;
};

}  // namespace redzone::campaign

// An endless sequence of TMA descriptors from a seed: legal ones at and around every boundary, and
// ones that break one or two rules by a small or a large amount.
//
// Half are legal by the driver's rules (some of these break a rule that the driver may not
// enforce); a third break one rule; the rest break two. All types, swizzles, interleaves and ranks
// occur, both tiled and im2col.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "tma/checker.h"

namespace redzone::generators {

struct DrawnDescriptor {
  tma::Descriptor descriptor;
  // The rules that the generator broke; empty for a legal descriptor. If there is one entry, the
  // descriptor breaks no other rule that the driver enforces. If there are two, the second break
  // may have repaired the first.
  std::vector<tma::Rule> broken;
};

// Deterministic: a seed gives the same descriptors on every machine. Ranks are at most 8. Not
// thread-safe.
class DescriptorGenerator {
 public:
  explicit DescriptorGenerator(std::uint64_t seed);
  ~DescriptorGenerator();
  DescriptorGenerator(DescriptorGenerator&&) noexcept;
  DescriptorGenerator& operator=(DescriptorGenerator&&) noexcept;

  DrawnDescriptor next();

 private:
  class Source;
  std::unique_ptr<Source> source_;
};

}  // namespace redzone::generators

// An endless sequence of TMA descriptors from a seed: legal ones at and around every boundary, and
// ones that break one or two rules, barely or by far.
//
// Half are legal by the driver's rules (some of those break a rule whose treatment by the driver is
// unknown); a third break one rule; the rest break two. All types, swizzles, interleaves and ranks
// occur, tiled and im2col.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "tma/checker.h"

namespace redzone::generators {

struct DrawnDescriptor {
  tma::Descriptor descriptor;
  // The rules that it was made to break; empty for a legal one. With one entry, it breaks no other
  // rule that the driver enforces. With two, the second break may have mended the first.
  std::vector<tma::Rule> broken;
};

// Deterministic: a seed gives the same descriptors on every machine. Ranks are at most 8. One
// thread at a time.
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

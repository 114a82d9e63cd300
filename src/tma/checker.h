// Which rules a descriptor breaks. Pure, allocates nothing, and takes any values.
//
// Where one rule makes another meaningless, only the first is given: a descriptor of an unknown
// rank has no dims, one of an unknown type no bytes.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "tma/descriptor.h"
#include "tma/rules.h"

namespace redzone::tma {

struct Limit {
  enum class Kind : std::uint8_t { range, multiple_of, one_of };
  Kind kind = Kind::range;
  std::int64_t low = 0, high = 0;  // range; both included
  std::int64_t unit = 0;           // multiple_of
};

struct Violation {
  Rule rule{};
  // The dim that it is about, from 0 (stride i of globalStrides is of dim i + 1), or -1.
  std::int8_t dim = -1;
  // The offending value in the unit of the rule (elements or bytes). Corners are negative numbers
  // in two's complement, see is_signed().
  std::uint64_t value = 0;
  Limit limit;
  // A stride of a dim of size 1: it is never used, so any legal value will do.
  bool degenerate = false;
};

bool is_signed(Rule rule);

// At most this many: each rule once a dim, at worst.
inline constexpr std::size_t kMaxViolations = 64;

class Violations {
 public:
  std::span<const Violation> all() const { return {items_.data(), count_}; }
  auto begin() const { return all().begin(); }
  auto end() const { return all().end(); }
  std::size_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  bool breaks(Rule rule) const;
  void add(const Violation& violation);

 private:
  std::array<Violation, kMaxViolations> items_;
  std::size_t count_ = 0;
};

// `compute_capability`: 90 for 9.0; 0 when not known, and then newer_gpu is not checked.
Violations check(const Descriptor& descriptor, int compute_capability = 0);

enum class Answer : std::uint8_t {
  accepts,
  rejects,
  open  // only rules are broken of which it is not known
};
Answer answer_of_manual(const Violations& violations);
// What the device does: CUDA_SUCCESS or CUDA_ERROR_INVALID_VALUE.
Answer answer_of_driver(const Violations& violations);

}  // namespace redzone::tma

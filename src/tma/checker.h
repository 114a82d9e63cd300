// Computes which rules a descriptor breaks. Pure, allocates nothing, and accepts any values.
//
// If one broken rule makes another one meaningless, only the first is reported: a descriptor of
// unknown rank has no dims, a descriptor of unknown type no bytes.
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
  std::int64_t low = 0, high = 0;  // range; both ends included
  std::int64_t unit = 0;           // multiple_of
};

struct Violation {
  Rule rule{};
  // The dim, from 0 (stride i of globalStrides belongs to dim i + 1), or -1.
  std::int8_t dim = -1;
  // The offending value in the unit of the rule (elements or bytes). Corners are negative numbers
  // in two's complement, see is_signed().
  std::uint64_t value = 0;
  Limit limit;
  // True for the stride of a dim of size 1: it is never used, so any legal value works.
  bool degenerate = false;
};

bool is_signed(Rule rule);

// Upper limit: each rule once per dim.
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

// `compute_capability`: 90 means 9.0; 0 means unknown, and newer_gpu is then not checked.
Violations check(const Descriptor& descriptor, int compute_capability = 0);

enum class Answer : std::uint8_t {
  accepts,
  rejects,
  open  // only rules of unknown status are broken
};
Answer answer_of_manual(const Violations& violations);
// The driver's result: CUDA_SUCCESS or CUDA_ERROR_INVALID_VALUE.
Answer answer_of_driver(const Violations& violations);

}  // namespace redzone::tma

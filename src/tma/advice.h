// Advice on a broken rule: field, value, limit, reason, and a change that fits this descriptor.
#pragma once

#include <string>
#include <vector>

#include "tma/checker.h"

namespace redzone::tma {

struct Advice {
  Violation violation;
  std::string where;   // "globalStrides of dim 1"
  std::string is;      // "2 bytes"
  std::string limit;   // "a multiple of 16 bytes"
  std::string why;     // a sentence
  std::string change;  // a sentence
};

Advice advise(const Descriptor& descriptor, const Violation& violation);

// Suspicious properties that the driver accepts, as sentences: a null address, overlapping rows, a
// stride of 0, a legal stride that a 32-bit product seems to have truncated.
std::vector<std::string> remarks(const Descriptor& descriptor);

}  // namespace redzone::tma

// The descriptors of the prefill's three inputs.
#pragma once

#include <redzone/target.h>

#include <string>
#include <vector>

#include "rules.h"

namespace redzone::ragged {

// A tensor [tokens, heads, width] with the strides that the wrapper uses, in elements.
struct Operand {
  const char* name = "";
  TensorArg tensor;
  std::int64_t token = 0, head = 0;

  static Operand of(const char* name, const TensorArg& tensor, const Rules& rules);
  // Whether a descriptor can encode its base and the strides of its dims of more than one element.
  bool fits_tma() const;
  tma::Descriptor descriptor() const;
};

}  // namespace redzone::ragged

// How a wrapper around TMA treats strides, and which strides its inputs have. The defaults are
// correct and accept all strides.
#pragma once

#include <cstdint>

namespace redzone::ragged {

struct Rules {
  // True: replaces the stride of a dim of size 1 by one that can be encoded. False: encodes it
  // unchanged; a stride of one element, which DLPack produces, breaks the rules of the descriptor
  // (flashinfer-ai/flashinfer#2150).
  bool normalize_unit_strides = true;
};

struct Variant {
  Rules rules = {};
  std::int64_t granule_elems = 1;  // stride multiple of its inputs: 8 elements are 16 bytes
  bool refusal_knob = true;        // else it reports an error
};

}  // namespace redzone::ragged

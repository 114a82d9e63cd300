// What a wrapper around TMA does with the strides that it is given, and which it is given. The
// default is right, and takes all of them.
#pragma once

#include <cstdint>

namespace redzone::ragged {

struct Rules {
  // A dim of size 1 gets a stride that can be encoded, whatever it came with; else it is encoded as
  // it came, and a stride of one element, as DLPack's exchange gives it, breaks the rules of the
  // descriptor (flashinfer-ai/flashinfer#2150).
  bool normalize_unit_strides = true;
};

struct Variant {
  Rules rules = {};
  std::int64_t granule_elems = 1;  // of the layouts of its inputs: 8 are 16 bytes
  bool refusal_knob = true;                // else it reports an error
};

}  // namespace redzone::ragged

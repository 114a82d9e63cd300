// The rules of the lazily compiled launch: how it computes its results, and what it freezes. All
// defaults are correct; each other value is a mistake that a real launcher has made.
#pragma once

#include <cstdint>

namespace redzone::lazy {

// Bytes of scratch per launch.
enum class ScratchRule : std::uint8_t {
  right,            // bytes per CTA * grid * num_ctas
  per_cta,          // bytes per CTA (pytorch/pytorch#175385)
  first_call_only,  // right in the compiling call, scratch of one CTA for frozen results (#182825)
  without_num_ctas,
  null,  // no scratch (jax-ml/jax#38912)
};

enum class GridRule : std::uint8_t {
  each_call,   // from the call's own dims
  first_call,  // from the dims of the first call (pytorch/pytorch#120801)
};

// The key of the frozen results. Grid and scratch are frozen too, so all dims belong to the key.
enum class KeyRule : std::uint8_t { all_dims, without_dim };

// Whether outputs are restored between tries: a kernel that adds to its output changes the output
// in every try of a config.
enum class TuningRule : std::uint8_t { restores, accumulates };

struct Rules {
  ScratchRule scratch = ScratchRule::right;
  GridRule grid = GridRule::each_call;
  KeyRule key = KeyRule::all_dims;
  TuningRule tuning = TuningRule::restores;
};

}  // namespace redzone::lazy

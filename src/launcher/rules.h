// The rules of the lazily compiled launch: what it computes how, and what it keeps. All defaults
// are right; each other value is a mistake that a launcher in the world has made.
#pragma once

#include <cstdint>

namespace redzone::lazy {

// Bytes of scratch for a launch.
enum class ScratchRule : std::uint8_t {
  right,            // bytes of a CTA * grid * num_ctas
  per_cta,          // bytes of a CTA (pytorch/pytorch#175385)
  first_call_only,  // right where the call compiles, of one CTA from the cache (#182825)
  without_num_ctas,
  null,  // none at all (jax-ml/jax#38912)
};

enum class GridRule : std::uint8_t {
  each_call,   // from the call's own dims
  first_call,  // from those of the first call (pytorch/pytorch#120801)
};

// What the frozen results are found by. Grid and scratch are frozen with the rest, so all dims
// belong to it.
enum class KeyRule : std::uint8_t { all_dims, without_dim };

// A kernel that adds to its output changes it each time that a config is tried.
enum class TuningRule : std::uint8_t { restores, accumulates };

struct Rules {
  ScratchRule scratch = ScratchRule::right;
  GridRule grid = GridRule::each_call;
  KeyRule key = KeyRule::all_dims;
  TuningRule tuning = TuningRule::restores;
};

}  // namespace redzone::lazy

// Real-world mistakes of launchers, each defined by the one rule that it breaks.
#pragma once

#include <string_view>

#include "launcher/rules.h"

namespace redzone::lazy {

struct Mistake {
  std::string_view name;  // [a-z_]+
  std::string_view what;  // for people
  Rules rules;
};

inline constexpr Mistake kMistakes[] = {
    {"scratch_per_cta",
     "scratch of one CTA, whatever the grid (pytorch/pytorch#175385)",
     {.scratch = ScratchRule::per_cta}},
    {"scratch_first_call",
     "scratch of one CTA from the second call on (pytorch/pytorch#182825)",
     {.scratch = ScratchRule::first_call_only}},
    {"scratch_num_ctas",
     "scratch of the grid, without the CTAs of a cluster",
     {.scratch = ScratchRule::without_num_ctas}},
    {"scratch_null", "no scratch at all (jax-ml/jax#38912)", {.scratch = ScratchRule::null}},
    {"grid_frozen",
     "the grid of the first call, for every later shape (pytorch/pytorch#120801)",
     {.grid = GridRule::first_call}},
    {"key_without_dim",
     "what is frozen is found again without looking at one dim (pytorch/pytorch#175416)",
     {.key = KeyRule::without_dim}},
    {"tuning_accumulates",
     "each config that the first call tries adds to the output (pytorch/pytorch#175416)",
     {.tuning = TuningRule::accumulates}},
};

}  // namespace redzone::lazy

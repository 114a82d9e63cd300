// Attention over ragged sequences in float64.
#pragma once

#include <redzone/target.h>

#include <span>

namespace redzone::ragged {

// o = softmax(q k^T / sqrt(width)) v for each sequence b: queries q_offsets[b] .. q_offsets[b + 1],
// keys k_offsets[b] .. k_offsets[b + 1]. Reads q [TQ, HQ, width] and k, v [TK, HK, width], the dims
// B, HQ and HK, and the knob `causal`: row i of m queries and n keys sees keys 0 .. i + n - m. A
// row that sees none is 0.
void reference_attention(ReferenceCall& call, std::span<const double> q_offsets,
                         std::span<const double> k_offsets, std::int64_t width);

}  // namespace redzone::ragged

// The family's math in float64, token by token, on contiguous tensors. Written from the recurrences
// of the papers and not from the kernels: no chunk weights, no tiles.
#pragma once

#include <redzone/target.h>

#include <cstdint>
#include <span>

namespace redzone::chunk {

struct Extents {
  std::int64_t sequences, T, C, D, DV;
};

Extents extents(const ReferenceCall& call);

// Inputs and outputs of one call; an empty input span stands for zeros, an empty output span is
// skipped.
struct ScanReference {
  Extents extents;
  std::span<const double> x;        // [sequences, T, D]
  std::span<const double> y;        // [sequences, T, DV]
  std::span<const double> g;        // [sequences, T]
  std::span<const double> initial;  // [sequences, D, DV] or empty
  std::span<double> states;         // [sequences, T / C, D, DV]
  std::span<double> last;           // [sequences, D, DV]
};

// S <- exp(g_t) S + x_t^T y_t over the tokens; `states` holds S before each chunk.
void forward_scan(const ScanReference& r);

// S <- exp(g_t) (S + x_t^T y_t) over the tokens from the last to the first; `states` holds the S
// that reaches each chunk from its end, before the chunk's own tokens are added.
void backward_scan(const ScanReference& r);

// The forward recurrence within each chunk, from zero; `states` holds S at the end of each chunk.
void local_states(const ScanReference& r);

// References of whole calls, with the tensors of the kernels of these names.
void reference_fwd_h(ReferenceCall& call);
void reference_fwd_phase1(ReferenceCall& call);
void reference_bwd_dh(ReferenceCall& call);
void reference_bwd_dh_correction(ReferenceCall& call);

// The same for some rows of the outputs (reference_rows.cu).
void reference_rows_fwd_h(SampledCall& call);
void reference_rows_fwd_phase1(SampledCall& call);
void reference_rows_bwd_dh(SampledCall& call);
void reference_rows_bwd_dh_correction(SampledCall& call);

}  // namespace redzone::chunk

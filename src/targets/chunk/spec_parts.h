// Common parts of the specs of the family.
#pragma once

#include <redzone/target.h>

#include <string>
#include <vector>

#include "problem.h"

namespace redzone::chunk {

// Dims B, H, T, C, D, DV, the knobs, and the tolerance; no tensors yet.
TargetSpec family_spec(std::string name, std::string doc);

// Inputs for each token: [B, H, T, width], dtype by the knob, any layout.
TensorSpec tokens(std::string name, std::string width);
// Log decays [B, H, T], f32, in [-0.2, 0): a memory of about ten tokens, so that sums stay small.
TensorSpec log_decays();
// States for each chunk: [B, H, N, D, DV], dtype by the knob.
TensorSpec chunk_states(std::string name, Role role);
// One state for each sequence: [B, H, D, DV], always f32.
TensorSpec sequence_state(std::string name, Role role);

// Declares the launches and the index products of one call.
LaunchDecl declare(const char* kernel, const LaunchShape& shape);
// The largest element offsets of contiguous tensors, which the kernels compute in 64 bits.
std::vector<IndexProduct> offset_products(const Problem& problem);
// Geometry of a target that sums the gates, then sums over all tokens tile by tile.
Geometry scan_geometry(const char* kernel, const Problem& problem);
double scan_work(const Dims& dims, const Config& config);

}  // namespace redzone::chunk

// The cost of a call as the spec declares it.
#pragma once

#include <limits>

#include "core/plan.h"

namespace redzone::generators {

struct Cost {
  double work = 0;   // scalar operations: spec.work, or the number of tensor elements
  double bytes = 0;  // size of the tensors' storage
};

inline constexpr Cost kUnlimited{std::numeric_limits<double>::max(),
                                 std::numeric_limits<double>::max()};

// Cost of one launch with contiguous tensors. Uses doubles, because the product of large dims must
// not overflow.
Cost dense_cost(const TargetSpec& spec, const Dims& dims, const Config& config);

// The bytes that the layouts of `call` add to dense_cost(). If `sparse`, a gap in a sparse tensor
// counts only the bytes that the harness itself touches (canaries).
double layout_bytes(const TargetSpec& spec, const Call& call, bool sparse);

// Rows and row length of a tensor in memory if it is transposed or not; excludes padding.
struct Rows {
  std::int64_t count = 0;
  std::int64_t length = 0;
};
Rows rows_of(const Shape& shape, bool transposed);

// Number of innermost matrices of a tensor in memory. Layout::slice_elems is the gap between two of
// them.
std::int64_t slices_of(const Shape& shape, const Layout& layout);

}  // namespace redzone::generators

#include "generators/internal/cost.h"

#include <algorithm>

namespace redzone::generators {
namespace {

// Bytes that the harness writes and checks in each gap of a sparse tensor.
constexpr double kSparseGapBytes = 2.0 * kSparseGapEndBytes;

}  // namespace

Cost dense_cost(const TargetSpec& spec, const Dims& dims, const Config& config) {
  Cost cost;
  double elements = 0;
  for (const auto& tensor : spec.tensors) {
    double numel = 1;
    for (auto s : tensor.shape_for(dims, config)) numel *= static_cast<double>(s);
    elements += numel;
    cost.bytes += numel * static_cast<double>(dtype_bytes(tensor.dtype_for(config)));
  }
  cost.work = spec.work ? spec.work(dims, config) : elements;
  return cost;
}

double layout_bytes(const TargetSpec& spec, const Call& call, bool sparse) {
  double bytes = 0;
  for (const auto& tensor : spec.tensors) {
    const Layout& layout = call.layout(tensor.name);
    if (layout.contiguous()) continue;
    const auto element = static_cast<double>(dtype_bytes(tensor.dtype_for(call.config)));
    const Shape shape = tensor.shape_for(call.dims, call.config);
    const Rows rows = rows_of(shape, layout.transposed);
    const auto row_gaps = static_cast<double>(rows.count);
    const auto slice_gaps =
        layout.slice_elems > 0 ? static_cast<double>(slices_of(shape, layout)) : 0;
    const double gaps = (static_cast<double>(layout.row_padding_elems) * row_gaps +
                         static_cast<double>(layout.slice_elems) * slice_gaps) *
                        element;
    const double elements = row_gaps * static_cast<double>(rows.length) * element;
    bytes += static_cast<double>(layout.offset_elems) * element;
    if (sparse && is_sparse(gaps, elements))
      bytes += (row_gaps + slice_gaps) * kSparseGapBytes;
    else
      bytes += gaps;
  }
  return bytes;
}

std::int64_t slices_of(const Shape& shape, const Layout& layout) {
  std::int64_t slices = 1;
  for (std::size_t d = 0; d + 2 < shape.size(); ++d) slices *= shape[d];
  // With heads first, a slice is one head, not one token.
  const std::size_t n = shape.size();
  if (layout.hnd && n >= 3)
    slices = slices / std::max<std::int64_t>(shape[n - 3], 1) * shape[n - 2];
  return slices;
}

Rows rows_of(const Shape& shape, bool transposed) {
  if (shape.empty()) return {1, 1};
  const std::size_t inner = transposed && shape.size() >= 2 ? shape.size() - 2 : shape.size() - 1;
  Rows rows{1, shape[inner]};
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (d != inner) rows.count *= shape[d];
  return rows;
}

}  // namespace redzone::generators

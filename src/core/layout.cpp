#include "core/layout.h"

#include <algorithm>

namespace redzone {
namespace {

std::int64_t count(const Shape& shape) {
  std::int64_t n = 1;
  for (auto s : shape) n *= s;
  return n;
}

// Dims in memory order, outermost first.
std::vector<std::size_t> memory_order(const Shape& shape, const Layout& layout) {
  std::vector<std::size_t> order(shape.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  if (layout.transposed && order.size() >= 2)
    std::swap(order[order.size() - 1], order[order.size() - 2]);
  return order;
}

}  // namespace

Result<View> make_view(const Shape& shape, const Layout& layout) {
  View v;
  v.shape = shape;
  v.strides.assign(shape.size(), 1);
  v.offset_elems = layout.offset_elems;
  v.numel = count(shape);

  const auto order = memory_order(shape, layout);
  std::int64_t pitch = 1;
  for (std::size_t k = order.size(); k-- > 0;) {
    const std::size_t d = order[k];
    v.strides[d] = pitch;
    const std::int64_t extent = std::max<std::int64_t>(shape[d], 1);
    if (__builtin_mul_overflow(pitch, extent, &pitch)) return usage_error("tensor too large");
    const bool innermost = k + 1 == order.size();
    if (innermost && __builtin_add_overflow(pitch, layout.row_padding_elems, &pitch))
      return usage_error("row padding too large");
  }

  std::int64_t last = 0;  // storage index of the last element, relative to element 0
  for (std::size_t d = 0; d < shape.size(); ++d) {
    std::int64_t reach = 0;
    if (shape[d] > 1 && (__builtin_mul_overflow(v.strides[d], shape[d] - 1, &reach) ||
                         __builtin_add_overflow(last, reach, &last)))
      return usage_error("tensor too large");
  }
  v.storage_elems = v.offset_elems + (v.numel == 0 ? 0 : last + 1);

  for (std::size_t d : order) {
    if (shape[d] <= 1) continue;
    v.memory_sizes.push_back(shape[d]);
    v.memory_strides.push_back(v.strides[d]);
  }
  // A run must be contiguous: where the innermost dim has size 1 (padded), runs have one element.
  if (v.memory_strides.empty() || v.memory_strides.back() != 1) {
    v.memory_sizes.push_back(1);
    v.memory_strides.push_back(1);
  }
  if (v.numel == 0) v.memory_sizes.assign(v.memory_sizes.size(), 0);

  if (layout.unit_stride) {
    for (std::size_t d = 0; d < shape.size(); ++d)
      if (shape[d] == 1) v.strides[d] = *layout.unit_stride;
  }
  return v;
}

std::optional<std::string> layout_violation(const Shape& shape, const Layout& layout,
                                            const LayoutRules& rules) {
  if (layout.row_padding_elems < 0) return "row padding must not be negative";
  if (layout.offset_elems < 0) return "offset must not be negative";
  if (layout.row_padding_elems > 0 && !rules.row_padding) return "row padding is not allowed";
  if (layout.transposed && !rules.transposed) return "a transposed layout is not allowed";
  if (layout.transposed && shape.size() < 2) return "fewer than two dims cannot be transposed";
  if (layout.offset_elems > 0 && !rules.offset) return "an offset is not allowed";
  if (layout.unit_stride && !rules.unit_strides) return "strides of size-1 dims are not free";
  return std::nullopt;
}

}  // namespace redzone

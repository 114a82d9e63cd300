#include "generators/layouts.h"

#include <algorithm>

#include "generators/internal/cost.h"
#include "generators/internal/draw.h"

namespace redzone::generators {
namespace {

// Each row of a sparse tensor costs a page or two of memory.
constexpr std::int64_t kMaxSparseRows = 1024;

std::int64_t count(const Shape& shape) {
  std::int64_t n = 1;
  for (auto s : shape) n *= s;
  return n;
}

}  // namespace

Layout draw_layout(Draw& draw, const Shape& shape, const LayoutRules& rules) {
  Layout layout;
  if (rules.transposed && shape.size() >= 2 && draw.one_in(3)) layout.transposed = true;
  if (rules.row_padding && rows_of(shape, layout.transposed).count > 1 && draw.one_in(2)) {
    static constexpr std::int64_t kPaddings[] = {1, 8, 16, 3, 7, 64};
    layout.row_padding_elems = draw.one_in(8) ? 2 * draw.in_range(0, 64) + 1 : draw.pick(kPaddings);
  }
  if (rules.offset && draw.one_in(3)) {
    static constexpr std::int64_t kOffsets[] = {1, 3, 8, 16, 5, 127};
    layout.offset_elems = draw.pick(kOffsets);
  }
  const bool has_unit = std::find(shape.begin(), shape.end(), 1) != shape.end();
  if (rules.unit_strides && has_unit && draw.one_in(2)) {
    const std::int64_t strides[] = {0,
                                    1,
                                    std::max<std::int64_t>(count(shape), 1),
                                    2,
                                    std::int64_t{1} << 31,
                                    std::int64_t{1} << 40};
    layout.unit_stride = draw.pick(strides);
  }
  return layout;
}

void draw_layouts(Draw& draw, const TargetSpec& spec, Call& call) {
  call.layouts.clear();
  if (draw.one_in(2)) return;
  for (const auto& tensor : spec.tensors) {
    const LayoutRules& r = tensor.layouts;
    if (!(r.row_padding || r.transposed || r.offset || r.unit_strides) || draw.one_in(2)) continue;
    const Layout layout = draw_layout(draw, tensor.shape(call.dims), r);
    if (!layout.contiguous()) call.layouts.emplace(tensor.name, layout);
  }
}

std::optional<Layout> draw_big_offsets(Draw& draw, const Shape& shape, Layout layout,
                                       std::size_t element_bytes) {
  const Rows rows = rows_of(shape, layout.transposed);
  if (count(shape) == 0 || rows.count < 2 || rows.count > kMaxSparseRows) return std::nullopt;
  // Thresholds in elements: 2^31 bytes, 2^32 bytes, 2^31 elements, 2^32 elements.
  const auto bytes = static_cast<std::int64_t>(element_bytes);
  const std::int64_t thresholds[] = {(std::int64_t{1} << 31) / bytes,
                                     (std::int64_t{1} << 32) / bytes, std::int64_t{1} << 31,
                                     std::int64_t{1} << 32};
  const int weights[] = {3, 1, 3, 1};
  const std::int64_t threshold = thresholds[draw.weighted(weights)];
  const std::int64_t pitch = threshold / (rows.count - 1) + draw.log_uniform(1, 64);
  layout.row_padding_elems = std::max<std::int64_t>(pitch - rows.length, 1);
  return layout;
}

}  // namespace redzone::generators

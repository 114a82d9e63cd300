#include "generators/layouts.h"

#include <algorithm>
#include <limits>

#include "core/round_up.h"
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

// Strides of size-1 dims that occur in practice: 0, one element, the size of the tensor, a power of
// two beyond a 32-bit type, and the low 32 bits of a product as a signed number.
std::int64_t draw_unit_stride(Draw& draw, std::int64_t size) {
  const std::int64_t strides[] = {0,
                                  1,
                                  std::max<std::int64_t>(size, 1),
                                  2,
                                  std::int64_t{1} << 31,
                                  std::int64_t{1} << 40,
                                  -1,
                                  std::int64_t{std::numeric_limits<std::int32_t>::min()},
                                  -std::max<std::int64_t>(size, 1)};
  return draw.pick(strides);
}

void draw_padding(Draw& draw, const LayoutRules& rules, Layout& layout) {
  static constexpr std::int64_t kPaddings[] = {1, 8, 16, 3, 7, 64};
  static constexpr std::int64_t kGranules[] = {1, 2, 3, 8};
  if (rules.granule_elems > 1)
    layout.row_padding_elems = rules.granule_elems * draw.pick(kGranules);
  else
    layout.row_padding_elems = draw.one_in(8) ? 2 * draw.in_range(0, 64) + 1 : draw.pick(kPaddings);
}

// Makes the tensor a slice of a larger one: its rows are parts of packed rows, or its sequences
// begin in the middle of the larger tensor's sequences.
void draw_slice(Draw& draw, const Shape& shape, const LayoutRules& rules, Layout& layout) {
  const std::int64_t row = std::max<std::int64_t>(
      shape[shape.size() - 1] * shape[shape.size() - 2] / rules.granule_elems, 1);
  // Gap sizes for q, k and v packed in one row. Beside k (or v) lie 2 rows of k's size if heads are
  // not grouped, 5 or 9 if 4 or 8 query heads share a key head; beside q lies half or a quarter of
  // its row.
  const std::int64_t extra[] = {row,     2 * row, std::max<std::int64_t>(row / 2, 1), 1,
                                5 * row, 9 * row, std::max<std::int64_t>(row / 4, 1)};
  const std::int64_t beside = draw.pick(extra);
  layout.slice_elems = rules.granule_elems * beside;
  if (!rules.offset) return;
  // The slice begins the packed row, lies in the middle (k precedes v), or ends it.
  const std::int64_t before[] = {-1, -1, beside, std::max<std::int64_t>(beside - row, 0)};
  if (const auto begin = draw.pick(before); begin >= 0)
    layout.offset_elems = rules.granule_elems * begin;
}

void draw_special_dim(Draw& draw, const Shape& shape, const LayoutRules& rules, Layout& layout) {
  if (shape.size() < 2) return;
  const auto dim = static_cast<std::int64_t>(draw.index(shape.size() - 1));
  if (rules.broadcast && draw.one_in(6))
    layout.broadcast_dim = dim;
  else if (rules.reversed && draw.one_in(6))
    layout.reversed_dim = dim;
}

}  // namespace

Layout draw_layout(Draw& draw, const Shape& shape, const LayoutRules& rules) {
  Layout layout;
  if (rules.transposed && shape.size() >= 2 && draw.one_in(3)) layout.transposed = true;
  if (rules.row_padding && rows_of(shape, layout.transposed).count > 1 && draw.one_in(2))
    draw_padding(draw, rules, layout);
  if (rules.offset && draw.one_in(3)) {
    static constexpr std::int64_t kOffsets[] = {1, 3, 8, 16, 5, 127};
    layout.offset_elems = rules.granule_elems * draw.pick(kOffsets);
  }
  const bool has_unit = std::find(shape.begin(), shape.end(), 1) != shape.end();
  if (rules.unit_strides && has_unit && draw.one_in(2))
    layout.unit_stride = draw_unit_stride(draw, count(shape));
  if (rules.heads_first && shape.size() >= 3 && draw.one_in(2)) layout.hnd = true;
  if (rules.slice && shape.size() >= 3 && draw.one_in(3)) draw_slice(draw, shape, rules, layout);
  if (rules.broadcast || rules.reversed) draw_special_dim(draw, shape, rules, layout);
  return layout;
}

void draw_layouts(Draw& draw, const TargetSpec& spec, Call& call) {
  call.layouts.clear();
  if (draw.one_in(2)) return;
  for (const auto& tensor : spec.tensors) {
    const LayoutRules& r = tensor.layouts;
    const bool free = r.row_padding || r.transposed || r.offset || r.unit_strides ||
                      r.heads_first || r.slice || r.broadcast || r.reversed;
    if (!free || draw.one_in(2)) continue;
    const Layout layout = draw_layout(draw, tensor.shape_for(call.dims, call.config), r);
    if (!layout.contiguous()) call.layouts.emplace(tensor.name, layout);
  }
}

void drop_refused_layouts(const TargetSpec& spec, Call& call) {
  for (const auto& tensor : spec.tensors) {
    const Layout& layout = call.layout(tensor.name);
    const Shape shape = tensor.shape_for(call.dims, call.config);
    if (layout_violation(shape, layout, tensor.layouts) || !make_view(shape, layout))
      call.layouts.erase(tensor.name);
  }
}

namespace {

// Returns a pitch with which the last of `count` rows or slices starts past `threshold`; in one
// case of ten, before `threshold`.
std::int64_t draw_pitch_near(Draw& draw, std::int64_t threshold, std::int64_t count) {
  const std::int64_t at = threshold / (count - 1), beside = draw.log_uniform(1, 64);
  return draw.one_in(10) ? at - beside : at + beside;
}

std::int64_t gap_of(std::int64_t pitch, std::int64_t length, std::int64_t granule_elems) {
  return round_up(std::max<std::int64_t>(pitch - length, 1), granule_elems);
}

bool few_enough(std::int64_t n) {
  return n >= 2 && n <= kMaxSparseRows;
}

bool rows_can_be_far(const Shape& shape, const Layout& layout, const LayoutRules& rules) {
  return rules.row_padding && few_enough(rows_of(shape, layout.transposed).count);
}

bool slices_can_be_far(const Shape& shape, const Layout& layout, const LayoutRules& rules) {
  return rules.slice && !layout.hnd && shape.size() >= 3 && few_enough(slices_of(shape, layout));
}

}  // namespace

bool can_have_big_offsets(const Shape& shape, const Layout& layout, const LayoutRules& rules) {
  return count(shape) > 0 &&
         (rows_can_be_far(shape, layout, rules) || slices_can_be_far(shape, layout, rules));
}

std::optional<Layout> draw_big_offsets(Draw& draw, const Shape& shape, Layout layout,
                                       std::size_t element_bytes, const LayoutRules& rules) {
  if (!can_have_big_offsets(shape, layout, rules)) return std::nullopt;
  // Thresholds in elements: 2^31 bytes, 2^32 bytes, 2^31 elements, 2^32 elements.
  const auto bytes = static_cast<std::int64_t>(element_bytes);
  const std::int64_t thresholds[] = {(std::int64_t{1} << 31) / bytes,
                                     (std::int64_t{1} << 32) / bytes, std::int64_t{1} << 31,
                                     std::int64_t{1} << 32};
  const int weights[] = {3, 1, 3, 1};
  const std::int64_t threshold = thresholds[draw.weighted(weights)];
  const Rows rows = rows_of(shape, layout.transposed);
  const bool by_rows = rows_can_be_far(shape, layout, rules);
  if (slices_can_be_far(shape, layout, rules) && (!by_rows || draw.one_in(2))) {
    const std::int64_t slices = slices_of(shape, layout);
    const std::int64_t matrix = rows.count / slices * (rows.length + layout.row_padding_elems);
    layout.slice_elems =
        gap_of(draw_pitch_near(draw, threshold, slices), matrix, rules.granule_elems);
  } else {
    layout.row_padding_elems =
        gap_of(draw_pitch_near(draw, threshold, rows.count), rows.length, rules.granule_elems);
  }
  return layout;
}

}  // namespace redzone::generators

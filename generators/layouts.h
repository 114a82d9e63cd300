// Layouts of tensors, within what the target promises to handle.
#pragma once

#include <optional>

#include "core/plan.h"

namespace redzone::generators {

class Draw;

// Contiguous mostly; else some of: rows padded (by 1, 8, 16, odd), transposed, an offset (1, odd,
// 8), and for size-1 dims a stride that nobody may use (0, 1, size, 2, 2^31, 2^40, -1, and what a
// 32-bit product leaves of it: negative, cut); HND, a slice of packed rows (as q, k and v
// have it where they are one tensor: at its beginning, in the middle, at its end), a broadcast or
// reversed dim. How often each: tests/generators/layouts_test.cpp.
Layout draw_layout(Draw& draw, const Shape& shape, const LayoutRules& rules);

// Layouts for all tensors of `call`, whose dims and config are set. All contiguous half of the
// time.
void draw_layouts(Draw& draw, const TargetSpec& spec, Call& call);

// `layout` with a row padding for which the last row starts past 2^31 or 2^32 elements or bytes
// while the tensor keeps its few elements. Nothing when the tensor has no second row, or so many
// that it is not sparse. The padding is a multiple of `granule_elems`.
std::optional<Layout> draw_big_offsets(Draw& draw, const Shape& shape, Layout layout,
                                       std::size_t element_bytes,
                                       std::int64_t granule_elems = 1);

}  // namespace redzone::generators

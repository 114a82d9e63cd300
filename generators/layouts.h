// Draws layouts of tensors, within the layouts that the target declares as supported.
#pragma once

#include <optional>

#include "core/plan.h"

namespace redzone::generators {

class Draw;

// Mostly contiguous; otherwise some of: padded rows (by 1, 8, 16, odd numbers), transposed, an
// offset (1, odd, 8), an arbitrary stride for size-1 dims, which no kernel may use (0, 1, size, 2,
// 2^31, 2^40, -1, and the result of an overflowing 32-bit product: negative, truncated); HND, a
// slice of packed rows (like q, k and v in one tensor: at the beginning, in the middle or at the
// end), a broadcast or reversed dim. tests/generators/layouts_test.cpp has the frequencies.
Layout draw_layout(Draw& draw, const Shape& shape, const LayoutRules& rules);

// Draws layouts for all tensors of `call`, whose dims and config must be set. Half of the time all
// tensors are contiguous.
void draw_layouts(Draw& draw, const TargetSpec& spec, Call& call);

// Removes the layouts that the shapes of `call` do not allow after a knob has changed the shapes.
void drop_refused_layouts(const TargetSpec& spec, Call& call);

// Returns `layout` with row padding, or a larger pitch of slices, as `rules` allow, such that the
// last row or slice starts near 2^31 or 2^32 elements or bytes (nine times in ten beyond it), while
// the tensor keeps its small number of elements. Returns nullopt if the tensor has fewer than two
// rows and fewer than two slices, or too many to be sparse.
std::optional<Layout> draw_big_offsets(Draw& draw, const Shape& shape, Layout layout,
                                       std::size_t element_bytes, const LayoutRules& rules);

// True if draw_big_offsets() returns a layout.
bool can_have_big_offsets(const Shape& shape, const Layout& layout, const LayoutRules& rules);

}  // namespace redzone::generators

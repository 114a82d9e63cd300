#include "core/layout.h"

#include <algorithm>

namespace redzone {
namespace {

// Dims in memory order, outermost first. Computed on access and not stored, because each call of a
// trial needs several.
class MemoryOrder {
 public:
  MemoryOrder(const Shape& shape, const Layout& layout) : n_(shape.size()), layout_(layout) {}

  std::size_t size() const { return n_; }
  std::size_t operator[](std::size_t k) const {
    if (layout_.hnd && n_ >= 3) k = swapped(k, n_ - 2, n_ - 3);
    if (layout_.transposed && n_ >= 2) k = swapped(k, n_ - 1, n_ - 2);
    return k;
  }

 private:
  static std::size_t swapped(std::size_t k, std::size_t a, std::size_t b) {
    if (k == a) return b;
    return k == b ? a : k;
  }

  std::size_t n_;
  const Layout& layout_;
};

bool is_broadcast(const Layout& layout, std::size_t dim) {
  return static_cast<std::int64_t>(dim) == layout.broadcast_dim;
}

// Sizes in memory: a broadcast dim has one element.
class MemorySizes {
 public:
  MemorySizes(const Shape& shape, const Layout& layout) : shape_(shape), layout_(layout) {}

  std::size_t size() const { return shape_.size(); }
  std::int64_t operator[](std::size_t dim) const {
    return is_broadcast(layout_, dim) && shape_[dim] > 1 ? 1 : shape_[dim];
  }

 private:
  const Shape& shape_;
  const Layout& layout_;
};

std::int64_t count(const MemorySizes& sizes) {
  std::int64_t n = 1;
  for (std::size_t d = 0; d < sizes.size(); ++d) n *= sizes[d];
  return n;
}

// Sets the strides of all dims, as if none were broadcast or reversed. Fails if sizes overflow.
Result<void> set_pitches(const MemorySizes& sizes, const Layout& layout, const MemoryOrder& order,
                         Shape& strides) {
  std::int64_t pitch = 1;
  for (std::size_t k = order.size(); k-- > 0;) {
    const std::size_t d = order[k];
    strides[d] = pitch;
    const std::int64_t extent = std::max<std::int64_t>(sizes[d], 1);
    if (__builtin_mul_overflow(pitch, extent, &pitch)) return usage_error("tensor too large");
    const std::size_t within = order.size() - 1 - k;  // dims further in
    if (within == 0 && __builtin_add_overflow(pitch, layout.row_padding_elems, &pitch))
      return usage_error("row padding too large");
    if (within == 1 && __builtin_add_overflow(pitch, layout.slice_elems, &pitch))
      return usage_error("slice too large");
  }
  return {};
}

// Sets the runs: dims of size > 1 in memory order.
void set_memory(View& v, const MemorySizes& sizes, const Layout& layout, const MemoryOrder& order) {
  v.memory_sizes.reserve(order.size() + 1);
  v.memory_strides.reserve(order.size() + 1);
  for (std::size_t k = 0; k < order.size(); ++k) {
    const std::size_t d = order[k];
    if (sizes[d] <= 1) continue;
    v.memory_sizes.push_back(sizes[d]);
    v.memory_strides.push_back(v.strides[d]);
  }
  // Gaps between slices are checked like gaps between runs: a dense matrix is one run.
  const std::size_t rank = v.memory_sizes.size();
  if (layout.slice_elems > 0 && rank >= 3 && v.memory_strides[rank - 1] == 1 &&
      v.memory_strides[rank - 2] == v.memory_sizes[rank - 1]) {
    v.memory_sizes[rank - 2] *= v.memory_sizes[rank - 1];
    v.memory_strides[rank - 2] = 1;
    v.memory_sizes.pop_back();
    v.memory_strides.pop_back();
  }
  // A run must be contiguous: if the innermost dim has size 1 (padded), runs have one element.
  if (v.memory_strides.empty() || v.memory_strides.back() != 1) {
    v.memory_sizes.push_back(1);
    v.memory_strides.push_back(1);
  }
  if (v.numel == 0) v.memory_sizes.assign(v.memory_sizes.size(), 0);
}

void set_index_steps(View& v, const MemorySizes& sizes, const MemoryOrder& order) {
  v.index_steps.assign(sizes.size(), 0);
  std::int64_t step = 1;
  for (std::size_t k = order.size(); k-- > 0;) {
    if (sizes[order[k]] <= 1) continue;
    v.index_steps[order[k]] = step;
    step *= sizes[order[k]];
  }
}

// Strides as the target sees them: 0 for broadcast, negative for reversed dims.
void set_special_dims(View& v, const Layout& layout) {
  for (std::size_t d = 0; d < v.shape.size(); ++d) {
    if (v.shape[d] <= 1) continue;
    if (is_broadcast(layout, d)) {
      v.strides[d] = 0;
    } else if (static_cast<std::int64_t>(d) == layout.reversed_dim) {
      v.origin_elems += (v.shape[d] - 1) * v.strides[d];
      v.first_index += (v.shape[d] - 1) * v.index_steps[d];
      v.strides[d] = -v.strides[d];
      v.index_steps[d] = -v.index_steps[d];
    }
  }
}

std::optional<std::string> dim_violation(const Shape& shape, std::int64_t dim, bool allowed,
                                         std::string_view what) {
  if (dim == -1) return std::nullopt;
  if (!allowed) return std::string(what) + " dim is not allowed";
  if (dim < -1 || dim >= static_cast<std::int64_t>(shape.size()) - 1)
    return std::string(what) + " dim must be one of the dims but the last";
  return std::nullopt;
}

}  // namespace

bool is_sparse(double gap_bytes, double element_bytes) {
  constexpr double kLargeBytes = 256 << 20;
  constexpr double kFarApart = 16;  // ratio of gap bytes to element bytes
  return gap_bytes > kLargeBytes && gap_bytes > kFarApart * element_bytes;
}

Result<View> make_view(const Shape& shape, const Layout& layout) {
  if (std::any_of(shape.begin(), shape.end(), [](std::int64_t size) { return size < 0; }))
    return usage_error("a negative size");
  View v;
  v.shape = shape;
  v.strides.assign(shape.size(), 1);
  v.offset_elems = layout.offset_elems;
  const MemorySizes sizes(shape, layout);
  const MemoryOrder order(shape, layout);
  RZ_TRY(set_pitches(sizes, layout, order, v.strides));
  v.numel = count(sizes);  // cannot overflow, because set_pitches() succeeded

  std::int64_t last = 0;  // storage index of the last element, relative to the lowest
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    std::int64_t reach = 0;
    if (sizes[d] > 1 && (__builtin_mul_overflow(v.strides[d], sizes[d] - 1, &reach) ||
                         __builtin_add_overflow(last, reach, &last)))
      return usage_error("tensor too large");
  }
  if (__builtin_add_overflow(v.offset_elems, v.numel == 0 ? 0 : last + 1, &v.storage_elems))
    return usage_error("offset too large");

  set_memory(v, sizes, layout, order);
  set_index_steps(v, sizes, order);
  if (v.numel > 0) set_special_dims(v, layout);
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
  if (layout.hnd && !rules.heads_first) return "HND is not allowed";
  if (layout.hnd && shape.size() < 3) return "HND needs at least three dims";
  if (layout.slice_elems < 0) return "a slice must not be negative";
  if (layout.slice_elems > 0 && !rules.slice) return "a slice is not allowed";
  if (layout.slice_elems > 0 && shape.size() < 3) return "fewer than three dims have no slice";
  for (auto elems : {layout.row_padding_elems, layout.slice_elems, layout.offset_elems})
    if (elems % rules.granule_elems != 0)
      return "paddings and offsets must be multiples of " + std::to_string(rules.granule_elems);
  if (auto why = dim_violation(shape, layout.broadcast_dim, rules.broadcast, "a broadcast"))
    return why;
  if (auto why = dim_violation(shape, layout.reversed_dim, rules.reversed, "a reversed"))
    return why;
  if (layout.reversed_dim >= 0 && layout.reversed_dim == layout.broadcast_dim)
    return "a dim is both broadcast and reversed";
  return std::nullopt;
}

}  // namespace redzone

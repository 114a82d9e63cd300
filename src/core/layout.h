// Memory layout of a tensor within its storage.
#pragma once

#include <redzone/spec.h>

#include <optional>
#include <string>

#include "core/error.h"

namespace redzone {

// Layout of one tensor in a plan. The default is contiguous. The fields combine.
struct Layout {
  std::int64_t row_padding_elems = 0;  // added to the pitch of the innermost memory row
  bool transposed = false;             // the last two dims are swapped in memory
  std::int64_t offset_elems = 0;       // offset of element 0 in the storage
  // Stride of each dim of size 1, which must not affect results. Unset: as contiguous.
  std::optional<std::int64_t> unit_stride = {};
  bool hnd = false;              // the two dims before the last are swapped in memory
  std::int64_t slice_elems = 0;  // added to the pitch outside the two innermost dims
  // The dim with stride 0, and the dim with a negative stride (never the last); -1: none.
  std::int64_t broadcast_dim = -1;
  std::int64_t reversed_dim = -1;

  bool contiguous() const { return *this == Layout{}; }
  auto operator<=>(const Layout&) const = default;
};

// A layout applied to a shape. Memory order sorts the dims of size > 1 that are not broadcast from
// the largest stride to the smallest; the last one has stride 1 (a run). A tensor without such dims
// has one run of one element; an empty tensor has no run.
struct View {
  Shape shape;
  Shape strides;                   // elements, as the target sees them
  std::int64_t offset_elems = 0;   // lowest element, from the start of the storage
  std::int64_t origin_elems = 0;   // element [0, 0, ..], from the lowest element; not 0 if a dim is
                                   // reversed
  std::int64_t storage_elems = 0;  // from the start of the storage to the end of the last run
  std::int64_t numel = 0;          // elements in memory: a broadcast dim counts once
  Shape memory_sizes;              // at least one entry; innermost last
  Shape memory_strides;            // elements; innermost is 1
  // Index in memory order of element [i0, i1, ..]: first_index + sum(i_k * index_steps[k]).
  Shape index_steps;
  std::int64_t first_index = 0;
};

// Whether a tensor has few elements in a very large storage, e.g. when offsets exceed 2^31. Such
// gaps are checked only at their ends, and the rest of them need not be backed by memory.
bool is_sparse(double gap_bytes, double element_bytes);
// Bytes checked at each end of a gap of a sparse tensor.
inline constexpr std::int64_t kSparseGapEndBytes = 1024;

// The view of `shape` under `layout`. Pitches that overflow 63 bits are a usage error.
Result<View> make_view(const Shape& shape, const Layout& layout);

// The violation of `rules` by `layout` for this shape, as one clause, or nothing.
std::optional<std::string> layout_violation(const Shape& shape, const Layout& layout,
                                            const LayoutRules& rules);

}  // namespace redzone

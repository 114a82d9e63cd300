// How the elements of a tensor lie in its storage.
#pragma once

#include <redzone/spec.h>

#include <optional>
#include <string>

#include "core/error.h"

namespace redzone {

// What a plan says of one tensor's layout. The default is contiguous. The parts combine.
struct Layout {
  std::int64_t row_padding_elems = 0;  // added to the pitch of the innermost memory row
  bool transposed = false;             // the last two dims are swapped in memory
  std::int64_t offset_elems = 0;       // element 0 lies this far into the storage
  // Stride given to each dim of size 1, where it must not matter. Unset: as contiguous.
  std::optional<std::int64_t> unit_stride = {};
  bool hnd = false;              // the two dims in front of the last are swapped in memory
  std::int64_t slice_elems = 0;  // added to the pitch of what encloses the two innermost dims
  // Dims (but never the last) of stride 0, and of a negative stride; -1: none.
  std::int64_t broadcast_dim = -1;
  std::int64_t reversed_dim = -1;

  bool contiguous() const { return *this == Layout{}; }
  auto operator<=>(const Layout&) const = default;
};

// A layout applied to a shape. Memory order lists the dims of size > 1 that are not broadcast from
// the largest stride to the smallest; the last one has stride 1 (a run). A tensor with no such dim
// has one run of one element; an empty tensor has no run.
struct View {
  Shape shape;
  Shape strides;                   // elements, as the target sees them
  std::int64_t offset_elems = 0;   // of the lowest element from the start of the storage
  std::int64_t origin_elems = 0;   // of element [0, 0, ..] from the lowest one: not 0 when reversed
  std::int64_t storage_elems = 0;  // from the start of the storage to the end of the last run
  std::int64_t numel = 0;          // in memory: a broadcast dim counts once
  Shape memory_sizes;              // at least one entry; innermost last
  Shape memory_strides;            // elements; innermost is 1
  // Where element [i0, i1, ..] is among those in memory order: first_index + sum(i_k *
  // index_steps).
  Shape index_steps;
  std::int64_t first_index = 0;
};

// A tensor whose elements are few in a very large storage, as when offsets pass 2^31: its gaps are
// watched at their ends only, and no memory need stand behind the rest of them.
bool is_sparse(double gap_bytes, double element_bytes);
// Bytes of a sparse tensor that are watched at each end of a gap.
inline constexpr std::int64_t kSparseGapEndBytes = 1024;

// The view of `shape` under `layout`. Pitches that overflow 63 bits are a usage error.
Result<View> make_view(const Shape& shape, const Layout& layout);

// What `rules` forbid in `layout` for this shape, as one clause, or nothing.
std::optional<std::string> layout_violation(const Shape& shape, const Layout& layout,
                                            const LayoutRules& rules);

}  // namespace redzone

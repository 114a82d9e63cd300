#include "cusparse/index_arrays.h"

#include <redzone/kernel.h>

#include <algorithm>
#include <cstdint>

namespace redzone::libraries::cusparse {
namespace {

// One thread per row; the thread of row `pattern.rows` writes the last offset of CSR.
template <class I>
__global__ void write_pattern(Pattern pattern, bool coo, I* rows, I* columns) {
  const std::int64_t r = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (r > pattern.rows) return;
  const std::int64_t begin = pattern.offset(r);
  if (!coo) rows[r] = static_cast<I>(begin);
  if (r == pattern.rows) return;
  for (std::int64_t k = 0; k < pattern.length(r); ++k) {
    columns[begin + k] = static_cast<I>(pattern.column(r, k));
    if (coo) rows[begin + k] = static_cast<I>(r);
  }
}

template <class I>
IndexArrays write_as(Context& ctx, const Pattern& pattern, bool coo) {
  constexpr std::int64_t kBlock = 128;
  const auto array = [&ctx](const char* name, std::int64_t n) {
    const auto items = static_cast<std::size_t>(std::max<std::int64_t>(n, 1));
    return static_cast<I*>(ctx.scratch(name, items * sizeof(I), sizeof(I)));
  };
  I* const rows = array("rows", coo ? pattern.elements() : pattern.rows + 1);
  I* const columns = array("columns", pattern.elements());
  if (!ctx.ended())
    launch(ctx, "write_pattern", write_pattern<I>, {{pattern.rows / kBlock + 1}, {kBlock}}, pattern,
           coo, rows, columns);
  return {rows, columns};
}

}  // namespace

IndexArrays write_indices(Context& ctx, const Pattern& pattern, bool coo, bool wide) {
  return wide ? write_as<std::int64_t>(ctx, pattern, coo)
              : write_as<std::int32_t>(ctx, pattern, coo);
}

}  // namespace redzone::libraries::cusparse

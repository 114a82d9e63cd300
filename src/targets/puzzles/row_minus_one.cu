// puzzle: row_minus_one
// bug: the sentinel -1 in an index tensor is taken for a row, and the row before the buffer is
//      written
// kin: Dao-AILab/flash-attention#2755
// expect: illegal-access write before cache
// minimal: 1 call, guard_before; T=1 R=1 W=1
#include <algorithm>

#include "kit.h"
#include "puzzles.h"

namespace redzone::puzzles {
namespace row_minus_one {

// Zeroes the rows listed in `slots`; -1 lists none. A row may be listed twice.
template <bool kFixed>
__global__ void clear_rows(const std::int32_t* slots, float* cache, std::int64_t listed,
                           std::int64_t width) {
  const std::int64_t i = global_thread();
  if (i >= listed * width) return;
  const std::int64_t row = slots[i / width];
  if (kFixed && row < 0) return;
  cache[row * width + i % width] = 0;
}

template <bool kFixed>
struct RowMinusOne : Target {
  static TargetSpec spec() {
    auto s = pair_spec<kFixed>("row_minus_one", "Clears the rows of a cache that are listed.");
    s.dims = {DimSpec::of("T", 0, 32, "entries of the list"),
              DimSpec::of("R", 1, 32, "rows of the cache; the last stays"),
              DimSpec::of("W", 1, 32, "row width")};
    const auto listed = Fill::integers([](const Dims& d) { return Range{-1, get(d, "R") - 2}; });
    s.tensors = {tensor("slots", DType::i32, Role::in, shape_of({"T"}), listed),
                 tensor("cache", DType::f32, Role::inout, shape_of({"R", "W"}))};
    return s;
  }

  void run(Context& ctx) override {
    const std::int64_t listed = ctx.dim("T"), width = ctx.dim("W");
    if (listed == 0) return;
    launch(ctx, "clear_rows", clear_rows<kFixed>, one_thread_each(listed * width),
           ctx.tensor("slots").data<std::int32_t>(), ctx.tensor("cache").data<float>(), listed,
           width);
  }

  void reference(ReferenceCall& call) const override {
    const auto cache = call.output("cache");
    const auto width = call.dim("W");
    for (double slot : call.input("slots"))
      if (slot >= 0) std::fill_n(cache.begin() + static_cast<std::int64_t>(slot) * width, width, 0);
  }
};

}  // namespace row_minus_one

void add_row_minus_one(Registrar& registrar) {
  add_pair<row_minus_one::RowMinusOne>(registrar);
}

}  // namespace redzone::puzzles

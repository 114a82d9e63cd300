// puzzle: empty_row_hang
// bug: a tree reduction halves its span until it is 1; the span of an empty row is 0 and stays 0
// kin: variable-length kernels given a sequence of length 0
// expect: hang
// minimal: 1 call; R=1 N=0
#include <algorithm>

#include "kit.h"
#include "puzzles.h"

namespace redzone::puzzles {
namespace empty_row_hang {

constexpr int kLanes = 32;

// y[r] is the largest element of row r, which is x[offsets[r] .. offsets[r + 1]), or -1 when the
// row is empty. One block a row.
template <bool kFixed>
__global__ void row_max(const std::int32_t* offsets, const float* x, float* y) {
  __shared__ float best[kLanes];
  const int lane = threadIdx.x;
  const std::int64_t begin = offsets[blockIdx.x], end = offsets[blockIdx.x + 1];
  float mine = -1;
  for (std::int64_t i = begin + lane; i < end; i += kLanes) mine = fmaxf(mine, x[i]);
  best[lane] = mine;
  __syncthreads();
  const int lanes_used = static_cast<int>(end - begin < kLanes ? end - begin : kLanes);
  for (int span = lanes_used; kFixed ? span > 1 : span != 1; span = (span + 1) / 2) {
    const int half = (span + 1) / 2;
    if (lane + half < span) best[lane] = fmaxf(best[lane], best[lane + half]);
    __syncthreads();
  }
  if (lane == 0) y[blockIdx.x] = best[0];
}

template <bool kFixed>
struct EmptyRowHang : Target {
  static TargetSpec spec() {
    auto s =
        pair_spec<kFixed>("empty_row_hang", "The largest element of each row of a ragged batch.");
    s.dims = {DimSpec::of("R", 0, 32, "rows"), DimSpec::of("N", 0, 1024, "elements of all rows")};
    const auto bounds = Fill::offsets([](const Dims& d) { return get(d, "N"); });
    s.tensors = {tensor(
                     "offsets", DType::i32, Role::in,
                     [](const Dims& d) { return Shape{get(d, "R") + 1}; }, bounds),
                 tensor("x", DType::f32, Role::in, shape_of({"N"})),
                 tensor("y", DType::f32, Role::out, shape_of({"R"}))};
    return s;
  }

  void run(Context& ctx) override {
    const std::int64_t rows = ctx.dim("R");
    if (rows == 0) return;
    launch(ctx, "row_max", row_max<kFixed>, {{rows}, {kLanes}},
           ctx.tensor("offsets").data<std::int32_t>(), ctx.tensor("x").data<float>(),
           ctx.tensor("y").data<float>());
  }

  void reference(ReferenceCall& call) const override {
    const auto offsets = call.input("offsets");
    const auto x = call.input("x");
    const auto y = call.output("y");
    for (std::size_t r = 0; r < y.size(); ++r) {
      y[r] = -1;
      for (auto i = static_cast<std::size_t>(offsets[r]); i < offsets[r + 1]; ++i)
        y[r] = std::max(y[r], x[i]);
    }
  }
};

}  // namespace empty_row_hang

void add_empty_row_hang(Registrar& registrar) {
  add_pair<empty_row_hang::EmptyRowHang>(registrar);
}

}  // namespace redzone::puzzles

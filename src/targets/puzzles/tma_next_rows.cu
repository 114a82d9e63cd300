// puzzle: tma_next_rows
// bug: the last tile of a sequence is not masked: rows of the next sequence are summed with it
// kin: ragged kernels whose tiles run past the end of a sequence into the packed one behind it
// expect: reference y
// minimal: 1 call; B=2 N=2
#include "tiles.h"

namespace redzone::puzzles {
namespace tma_next_rows {

constexpr int kWidth = 8;

// y[b] is the sum of all rows of sequence b.
template <bool kFixed>
__global__ void sequence_sums(const __grid_constant__ TensorMap map, const int* offsets, float* y) {
  __shared__ Barrier barrier;
  __shared__ float sums[kTileThreads];
  const int thread = static_cast<int>(threadIdx.x);
  const int begin = offsets[blockIdx.x], end = offsets[blockIdx.x + 1];
  Landing landing(kWidth);
  Landing::start(barrier);
  float sum = 0;
  for (int row = begin; row < end; row += kTileRows) {
    landing.load(map, barrier, row);
    const int rows = kFixed && end - row < kTileRows ? end - row : kTileRows;
    if (thread < rows)
      for (int c = 0; c < kWidth; ++c) sum += landing.at(thread, c);
    __syncthreads();
  }
  sums[thread] = sum;
  __syncthreads();
  if (thread != 0) return;
  for (int i = 1; i < kTileThreads; ++i) sum += sums[i];
  y[blockIdx.x] = sum;
}

template <bool kFixed>
struct TmaNextRows : Target {
  static TargetSpec spec() {
    auto s =
        pair_spec<kFixed>("tma_next_rows", "Sums the rows of each sequence of a ragged batch.");
    s.dims = {DimSpec::of("B", 1, 8, "sequences"),
              DimSpec::of("N", 0, 128, "rows of all sequences", kTileRows)};
    const auto bounds = Fill::offsets([](const Dims& d) { return get(d, "N"); });
    s.tensors = {tensor(
                     "offsets", DType::i32, Role::in,
                     [](const Dims& d) { return Shape{get(d, "B") + 1}; }, bounds),
                 tensor(
                     "x", DType::f32, Role::in,
                     [](const Dims& d) {
                       return Shape{get(d, "N"), kWidth};
                     },
                     integers(1, 9)),
                 tensor("y", DType::f32, Role::out, shape_of({"B"}))};
    s.tensors[1].align_bytes = 16;
    s.min_compute_capability = 90;
    return s;
  }

  void run(Context& ctx) override {
    TensorMap map;  // not used when there are no rows
    if (const std::int64_t rows = ctx.dim("N"); rows > 0) {
      const auto status = ctx.encode_tiled(
          "x", rows_descriptor(ctx.tensor("x").base, rows, kWidth, kWidth * 4, kWidth), map);
      if (!status) return fail_of(ctx, "x", status);
    }
    launch(ctx, "sequence_sums", sequence_sums<kFixed>,
           {{ctx.dim("B")}, {kTileThreads}, Landing::bytes(kWidth)}, map,
           ctx.tensor("offsets").data<const int>(), ctx.tensor("y").data<float>());
  }

  void reference(ReferenceCall& call) const override {
    const auto offsets = call.input("offsets");
    const auto x = call.input("x");
    const auto y = call.output("y");
    for (std::size_t b = 0; b < y.size(); ++b)
      for (auto i = static_cast<std::size_t>(offsets[b]) * kWidth; i < offsets[b + 1] * kWidth; ++i)
        y[b] += x[i];
  }
};

}  // namespace tma_next_rows

void add_tma_next_rows(Registrar& registrar) {
  add_pair<tma_next_rows::TmaNextRows>(registrar);
}

}  // namespace redzone::puzzles

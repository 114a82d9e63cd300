// puzzle: wrong_barrier
// bug: the second operand is read once the copy of the first has arrived, whose barrier is waited
//      for twice
// kin: warp-specialized attention whose consumer waits for the barrier of K before it reads V
// expect: fault
// minimal: 1 call; N=1
#include "stages.h"

namespace redzone::puzzles {
namespace wrong_barrier {

// y[r] is the product of the rows r of a and b, a tile of which each block copies.
template <bool kFixed>
__global__ void row_products(const __grid_constant__ TensorMap a,
                             const __grid_constant__ TensorMap b, float* y, int rows) {
  __shared__ Barrier barriers[2];
  const Stages stages;
  const int first = static_cast<int>(blockIdx.x) * kTileRows;
  start_barriers(barriers);
  if (threadIdx.x == 0) {
    stages.load(0, a, barriers[0], first);
    stages.load(1, b, barriers[1], first);
  }
  __syncthreads();
  barrier_wait(barriers[0], 0);
  barrier_wait(barriers[kFixed ? 1 : 0], 0);
  const int r = static_cast<int>(threadIdx.x);
  if (r >= kTileRows || first + r >= rows) return;
  float sum = 0;
  for (int c = 0; c < kStageWidth; ++c) sum += stages.at(0, r, c) * stages.at(1, r, c);
  y[first + r] = sum;
}

template <bool kFixed>
struct WrongBarrier : Target {
  static TargetSpec spec() {
    auto s = pair_spec<kFixed>("wrong_barrier", "Products of rows through two TMA copies.");
    s.dims = {DimSpec::of("N", 1, 64, "rows", kTileRows)};
    s.tensors = {stage_tensor("a", {"N"}), stage_tensor("b", {"N"}),
                 tensor("y", DType::f32, Role::out, shape_of({"N"}))};
    s.min_compute_capability = 90;
    return s;
  }

  void run(Context& ctx) override {
    const std::int64_t rows = ctx.dim("N");
    TensorMap a, b;
    if (!encode_stage(ctx, "a", rows, a) || !encode_stage(ctx, "b", rows, b)) return;
    launch(ctx, "row_products", row_products<kFixed>,
           {{ceil_div(rows, kTileRows)}, {kTileThreads}, Stages::kBytes}, a, b,
           ctx.tensor("y").data<float>(), rows);
  }

  void reference(ReferenceCall& call) const override {
    const auto a = call.input("a"), b = call.input("b");
    const auto y = call.output("y");
    for (std::size_t i = 0; i < a.size(); ++i) y[i / kStageWidth] += a[i] * b[i];
  }
};

}  // namespace wrong_barrier

void add_wrong_barrier(Registrar& registrar) {
  add_pair<wrong_barrier::WrongBarrier>(registrar);
}

}  // namespace redzone::puzzles

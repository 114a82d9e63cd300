// puzzle: odd_phase
// bug: the phase of the barrier is counted from 0 for each sequence, and off by one behind a
//      sequence with an odd number of tiles
// kin: persistent kernels whose phase bit is the parity of the tile's number in its own work item
// expect: fault
// minimal: repros/odd_phase.toml
#include "stages.h"

namespace redzone::puzzles {
namespace odd_phase {

// y[s] is the sum of sequence s: `rows` rows. One block copies the tiles of all of them.
template <bool kFixed>
__global__ void sequence_sums(const __grid_constant__ TensorMap x, float* y, int sequences,
                              int rows) {
  __shared__ Barrier barriers[1];
  __shared__ float sums[kTileThreads];
  const Stages stages;
  const int thread = static_cast<int>(threadIdx.x);
  start_barriers(barriers);
  unsigned phase = 0;
  for (int s = 0; s < sequences; ++s) {
    float sum = 0;
    if (!kFixed) phase = 0;
    for (int first = 0; first < rows; first += kTileRows) {
      if (thread == 0) stages.load(0, x, barriers[0], s * rows + first);
      barrier_wait(barriers[0], phase % 2);
      ++phase;
      if (thread < kTileRows && first + thread < rows)
        for (int c = 0; c < kStageWidth; ++c) sum += stages.at(0, thread, c);
      __syncthreads();
    }
    sums[thread] = sum;
    __syncthreads();
    if (thread == 0) {
      for (int i = 1; i < kTileRows; ++i) sum += sums[i];
      y[s] = sum;
    }
    __syncthreads();
  }
}

template <bool kFixed>
struct OddPhase : Target {
  static TargetSpec spec() {
    auto s = pair_spec<kFixed>("odd_phase", "Sums sequences through TMA copies, tile by tile.");
    s.dims = {DimSpec::of("S", 1, 8, "sequences"),
              DimSpec::of("N", 1, 128, "rows of a sequence", kTileRows)};
    s.tensors = {stage_tensor("x", {"S", "N"}),
                 tensor("y", DType::f32, Role::out, shape_of({"S"}))};
    s.min_compute_capability = 90;
    return s;
  }

  void run(Context& ctx) override {
    const std::int64_t sequences = ctx.dim("S"), rows = ctx.dim("N");
    TensorMap x;
    if (!encode_stage(ctx, "x", sequences * rows, x)) return;
    launch(ctx, "sequence_sums", sequence_sums<kFixed>, {{1}, {kTileThreads}, Stages::kBytes}, x,
           ctx.tensor("y").data<float>(), sequences, rows);
  }

  void reference(ReferenceCall& call) const override {
    const auto x = call.input("x");
    const auto y = call.output("y");
    const std::size_t elements = x.size() / y.size();
    for (std::size_t i = 0; i < x.size(); ++i) y[i / elements] += x[i];
  }
};

}  // namespace odd_phase

void add_odd_phase(Registrar& registrar) {
  add_pair<odd_phase::OddPhase>(registrar);
}

}  // namespace redzone::puzzles

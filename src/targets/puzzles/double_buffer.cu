// puzzle: double_buffer
// bug: a tile is loaded over the stage that slower warps still read, for want of a second barrier
// kin: software pipelines whose barrier behind the last use was taken for redundant
// expect: schedule | nondeterministic | history | reference y
// minimal: 1 call; N=129
#include "kit.h"
#include "puzzles.h"

namespace redzone::puzzles {
namespace double_buffer {

// Each tile of x in reverse. One block; the next tile is loaded before the current one is used.
template <bool kFixed>
__global__ void reverse_tiles(const std::int32_t* x, std::int32_t* y, std::int64_t n) {
  __shared__ std::int32_t stages[2][kBlock];
  const auto load = [&](std::int64_t first) {
    if (first + threadIdx.x < n) stages[first / kBlock % 2][threadIdx.x] = x[first + threadIdx.x];
  };
  load(0);
  for (std::int64_t first = 0; first < n; first += kBlock) {
    load(first + kBlock);
    __syncthreads();
    const std::int64_t count = n - first < kBlock ? n - first : kBlock;
    if (threadIdx.x < count)
      y[first + threadIdx.x] = stages[first / kBlock % 2][count - 1 - threadIdx.x];
    if (kFixed) __syncthreads();
  }
}

template <bool kFixed>
struct DoubleBuffer : Target {
  static TargetSpec spec() {
    auto s = pair_spec<kFixed>("double_buffer", "Reverses each tile of x through two stages.");
    s.dims = {DimSpec::of("N", 1, 2048, "elements", kBlock)};
    s.tensors = {tensor("x", DType::i32, Role::in, shape_of({"N"}), integers(-1000, 1000)),
                 tensor("y", DType::i32, Role::out, shape_of({"N"}))};
    return s;
  }

  void run(Context& ctx) override {
    launch(ctx, "reverse_tiles", reverse_tiles<kFixed>, {{1}, {kBlock}},
           ctx.tensor("x").data<std::int32_t>(), ctx.tensor("y").data<std::int32_t>(),
           ctx.dim("N"));
  }

  void reference(ReferenceCall& call) const override {
    const auto x = call.input("x");
    const auto y = call.output("y");
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::size_t first = i / kBlock * kBlock;
      const std::size_t end = std::min<std::size_t>(first + kBlock, x.size());
      y[i] = x[first + end - 1 - i];
    }
  }
};

}  // namespace double_buffer

void add_double_buffer(Registrar& registrar) {
  add_pair<double_buffer::DoubleBuffer>(registrar);
}

}  // namespace redzone::puzzles

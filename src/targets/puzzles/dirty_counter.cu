// puzzle: dirty_counter
// bug: the ticket counter of a split reduction wraps at N / 32 instead of at the last tile: when N
//      is a multiple of 32 it stays dirty, and the next call finds no last block
// kin: split-k semaphores that must be zero between launches
// expect: uninitialized y
// minimal: 2 calls; N=32; N=1
// expect: schedule y
// minimal: 2 calls; N=32; N=33
#include "kit.h"
#include "puzzles.h"

namespace redzone::puzzles {
namespace dirty_counter {

constexpr std::int64_t kTile = 32;

// y = sum of x. One block of one thread a tile; the last to finish adds up the partial sums.
__global__ void split_sum(const float* x, float* partial, unsigned* counter, float* y,
                          std::int64_t n, unsigned wrap) {
  const std::int64_t first = blockIdx.x * kTile;
  float sum = 0;
  for (std::int64_t i = first; i < n && i < first + kTile; ++i) sum += x[i];
  partial[blockIdx.x] = sum;
  __threadfence();
  const unsigned ticket = atomicInc(counter, wrap);
  if (ticket != gridDim.x - 1) return;
  __threadfence();
  float total = 0;
  for (unsigned tile = 0; tile < gridDim.x; ++tile) total += partial[tile];
  y[0] = total;
}

template <bool kFixed>
struct DirtyCounter : Target {
  static TargetSpec spec() {
    auto s = pair_spec<kFixed>("dirty_counter", "Sums a vector; the last block adds the parts.");
    s.dims = {DimSpec::of("N", 1, 1024, "elements", kTile)};
    s.tensors = {tensor("x", DType::f32, Role::in, shape_of({"N"})),
                 tensor("y", DType::f32, Role::out, [](const Dims&) { return Shape{1}; })};
    s.tolerance = {1e-4, 1e-5};
    return s;
  }

  void run(Context& ctx) override {
    const std::int64_t n = ctx.dim("N"), tiles = ceil_div(n, kTile);
    void* partial = ctx.scratch("partial", tiles * sizeof(float), sizeof(float));
    void* counter = ctx.workspace("counter", sizeof(unsigned), sizeof(unsigned));
    if (ctx.ended()) return;
    const std::int64_t wrap = kFixed ? tiles - 1 : n / kTile;
    launch(ctx, "split_sum", split_sum, {{tiles}, {1}}, ctx.tensor("x").data<float>(),
           static_cast<float*>(partial), static_cast<unsigned*>(counter),
           ctx.tensor("y").data<float>(), n, wrap);
  }

  void reference(ReferenceCall& call) const override {
    for (double x : call.input("x")) call.output("y")[0] += x;
  }
};

}  // namespace dirty_counter

void add_dirty_counter(Registrar& registrar) {
  add_pair<dirty_counter::DirtyCounter>(registrar);
}

}  // namespace redzone::puzzles

// puzzle: unset_shared
// bug: the threads behind the end of the data store nothing into the shared tile, and all of it is
//      read
// kin: a block reduction whose tail does not store the neutral element
// expect: uninitialized | reference | nondeterministic y
// minimal: 1 call; N=1
#include "kit.h"
#include "puzzles.h"

namespace redzone::puzzles {
namespace unset_shared {

template <bool kFixed>
__global__ void block_sums(const float* x, float* y, std::int64_t n) {
  __shared__ float tile[kBlock];
  const std::int64_t i = global_thread();
  if (i < n)
    tile[threadIdx.x] = x[i];
  else if (kFixed)
    tile[threadIdx.x] = 0;
  __syncthreads();
  if (threadIdx.x != 0) return;
  float sum = 0;
  for (float value : tile) sum += value;
  y[blockIdx.x] = sum;
}

template <bool kFixed>
struct UnsetShared : Target {
  static TargetSpec spec() {
    auto s = pair_spec<kFixed>("unset_shared", "y = the sums of x over each block of 64.");
    s.dims = {DimSpec::of("N", 1, 2000, "elements", kBlock)};
    s.tensors = {tensor("x", DType::f32, Role::in, shape_of({"N"}), integers(-8, 8)),
                 tensor("y", DType::f32, Role::out,
                        [](const Dims& d) { return Shape{ceil_div(get(d, "N"), kBlock)}; })};
    return s;
  }

  void run(Context& ctx) override {
    const TensorArg x = ctx.tensor("x"), sums = ctx.tensor("y");
    launch(ctx, "block_sums", block_sums<kFixed>, one_thread_each(x.numel()), x.data<float>(),
           sums.data<float>(), x.numel());
  }

  void reference(ReferenceCall& call) const override {
    const auto sums = call.output("y");
    std::size_t i = 0;
    for (const double value : call.input("x")) sums[i++ / kBlock] += value;
  }
};

}  // namespace unset_shared

void add_unset_shared(Registrar& registrar) {
  add_pair<unset_shared::UnsetShared>(registrar);
}

}  // namespace redzone::puzzles

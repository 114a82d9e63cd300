// puzzle: unset_flag
// bug: a thread sets the flag of its block if it sees an 8, and nobody clears the flag before
// kin: a block-wide `any` in shared memory whose initialization was lost in a refactoring
// expect: uninitialized | reference | nondeterministic y
// minimal: 1 call; N=1
#include "kit.h"
#include "puzzles.h"

namespace redzone::puzzles {
namespace unset_flag {

template <bool kFixed>
__global__ void any_eight(const std::int32_t* x, std::int32_t* y, std::int64_t n) {
  __shared__ int found;
  if (kFixed && threadIdx.x == 0) found = 0;
  __syncthreads();
  const std::int64_t i = global_thread();
  if (i < n && x[i] == 8) found = 1;
  __syncthreads();
  if (threadIdx.x == 0) y[blockIdx.x] = found != 0;
}

template <bool kFixed>
struct UnsetFlag : Target {
  static TargetSpec spec() {
    auto s = pair_spec<kFixed>("unset_flag", "y = whether a block of 64 elements of x has an 8.");
    s.dims = {DimSpec::of("N", 1, 2000, "elements", kBlock)};
    s.tensors = {tensor("x", DType::i32, Role::in, shape_of({"N"}), integers(-8, 8)),
                 tensor("y", DType::i32, Role::out,
                        [](const Dims& d) { return Shape{ceil_div(get(d, "N"), kBlock)}; })};
    return s;
  }

  void run(Context& ctx) override {
    const std::int64_t n = ctx.dim("N");
    launch(ctx, "any_eight", any_eight<kFixed>, one_thread_each(n),
           ctx.tensor("x").data<std::int32_t>(), ctx.tensor("y").data<std::int32_t>(), n);
  }

  void reference(ReferenceCall& call) const override {
    const auto x = call.input("x");
    const auto y = call.output("y");
    for (std::size_t i = 0; i < x.size(); ++i)
      if (x[i] == 8) y[i / kBlock] = 1;
  }
};

}  // namespace unset_flag

void add_unset_flag(Registrar& registrar) {
  add_pair<unset_flag::UnsetFlag>(registrar);
}

}  // namespace redzone::puzzles

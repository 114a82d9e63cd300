// puzzle: far_write
// bug: the tail path stores its intermediate through the pointer of the source; the result is
//      right, and another live tensor is not what it was
// kin: flashinfer-ai/flashinfer#3957, where a victim showed up dozens of configs after the write
// expect: input-changed write inside x
// minimal: 1 call; N=1
#include "kit.h"
#include "puzzles.h"

namespace redzone::puzzles {
namespace far_write {

// y = 3 x. One thread for four elements; the last N % 4 go through the tail path.
template <bool kFixed>
__global__ void triple(float* x, float* y, std::int64_t n) {
  const std::int64_t first = 4 * global_thread();
  if (first + 4 <= n) {
    for (std::int64_t i = first; i < first + 4; ++i) y[i] = 3 * x[i];
    return;
  }
  for (std::int64_t i = first; i < n; ++i) {
    float* intermediate = kFixed ? y : x;
    const float v = x[i];
    intermediate[i] = v + v;
    y[i] = intermediate[i] + v;
  }
}

template <bool kFixed>
struct FarWrite : Target {
  static TargetSpec spec() {
    auto s = pair_spec<kFixed>("far_write", "y = 3 x, four elements a thread.");
    s.dims = {DimSpec::of("N", 0, 2048, "elements", 4 * kBlock)};
    s.tensors = {tensor("x", DType::f32, Role::in, shape_of({"N"})),
                 tensor("y", DType::f32, Role::out, shape_of({"N"}))};
    return s;
  }

  void run(Context& ctx) override {
    const std::int64_t n = ctx.dim("N");
    if (n == 0) return;
    launch(ctx, "triple", triple<kFixed>, one_thread_each(ceil_div(n, 4)),
           ctx.tensor("x").data<float>(), ctx.tensor("y").data<float>(), n);
  }

  void reference(ReferenceCall& call) const override {
    const auto x = call.input("x");
    const auto y = call.output("y");
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = 3 * x[i];
  }
};

}  // namespace far_write

void add_far_write(Registrar& registrar) {
  add_pair<far_write::FarWrite>(registrar);
}

}  // namespace redzone::puzzles

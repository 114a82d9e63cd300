// puzzle: stale_grid
// bug: the grid computed on the first call is launched for every later one, so the rows beyond it
//      are not written
// kin: pytorch/pytorch#120801
// expect: uninitialized y
// minimal: 2 calls; N=1; N=65
#include "kit.h"
#include "puzzles.h"

namespace redzone::puzzles {
namespace stale_grid {

__global__ void twice(const float* x, float* y, std::int64_t n) {
  const std::int64_t i = global_thread();
  if (i < n) y[i] = 2 * x[i];
}

template <bool kFixed>
struct StaleGrid : Target {
  static TargetSpec spec() {
    auto s = pair_spec<kFixed>("stale_grid", "y = 2 x, with a grid that is kept between calls.");
    s.dims = {DimSpec::of("N", 0, 1024, "elements", kBlock)};
    s.tensors = {tensor("x", DType::f32, Role::in, shape_of({"N"})),
                 tensor("y", DType::f32, Role::out, shape_of({"N"}))};
    return s;
  }

  void run(Context& ctx) override {
    const std::int64_t n = ctx.dim("N");
    if (n == 0) return;
    if (kFixed || grid_ == 0) grid_ = ceil_div(n, kBlock);
    launch(ctx, "twice", twice, {{grid_}, {kBlock}}, ctx.tensor("x").data<float>(),
           ctx.tensor("y").data<float>(), n);
  }

  void reference(ReferenceCall& call) const override {
    const auto x = call.input("x");
    const auto y = call.output("y");
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = 2 * x[i];
  }

 private:
  std::int64_t grid_ = 0;
};

}  // namespace stale_grid

void add_stale_grid(Registrar& registrar) {
  add_pair<stale_grid::StaleGrid>(registrar);
}

}  // namespace redzone::puzzles

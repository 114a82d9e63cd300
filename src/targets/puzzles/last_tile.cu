// puzzle: last_tile
// bug: the last tile is loaded with a mask but stored without one
// kin: the missing boundary check of a block store, in every tiled language
// expect: illegal-access write after y
// minimal: 1 call; N=1
#include "kit.h"
#include "puzzles.h"

namespace redzone::puzzles {
namespace last_tile {

template <bool kFixed>
__global__ void square(const float* x, float* y, std::int64_t n) {
  const std::int64_t i = global_thread();
  const float v = i < n ? x[i] : 0;
  if (!kFixed || i < n) y[i] = v * v;
}

template <bool kFixed>
struct LastTile : Target {
  static TargetSpec spec() {
    auto s = pair_spec<kFixed>("last_tile", "y = x^2 in tiles.");
    s.dims = {DimSpec::of("N", 0, 1024, "elements", kBlock)};
    s.tensors = {tensor("x", DType::f32, Role::in, shape_of({"N"})),
                 tensor("y", DType::f32, Role::out, shape_of({"N"}))};
    return s;
  }

  void run(Context& ctx) override {
    const std::int64_t n = ctx.dim("N");
    if (n == 0) return;
    launch(ctx, "square", square<kFixed>, one_thread_each(n), ctx.tensor("x").data<float>(),
           ctx.tensor("y").data<float>(), n);
  }

  void reference(ReferenceCall& call) const override {
    const auto x = call.input("x");
    const auto y = call.output("y");
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[i] * x[i];
  }
};

}  // namespace last_tile

void add_last_tile(Registrar& registrar) {
  add_pair<last_tile::LastTile>(registrar);
}

}  // namespace redzone::puzzles

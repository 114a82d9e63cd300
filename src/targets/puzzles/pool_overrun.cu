// puzzle: pool_overrun
// bug: the temporary is written in whole groups of four, past the end where N is no multiple of
//      four
// kin: overruns that stay inside the block that a caching allocator rounded up to
// expect: illegal-access | redzone write after staged
// minimal: 1 call; N=1
#include "kit.h"
#include "puzzles.h"

namespace redzone::puzzles {
namespace pool_overrun {

__global__ void stage(const float* x, float* staged, std::int64_t n) {
  const std::int64_t first = 4 * global_thread();
  if (first >= n) return;
  for (std::int64_t i = first; i < first + 4; ++i) staged[i] = i < n ? x[i] + 1 : 0;
}

__global__ void stage_exactly(const float* x, float* staged, std::int64_t n) {
  const std::int64_t i = global_thread();
  if (i < n) staged[i] = x[i] + 1;
}

__global__ void halve(const float* staged, float* y, std::int64_t n) {
  const std::int64_t i = global_thread();
  if (i < n) y[i] = staged[i] / 2;
}

template <bool kFixed>
struct PoolOverrun : Target {
  static TargetSpec spec() {
    auto s = pair_spec<kFixed>("pool_overrun", "y = (x + 1) / 2 through a temporary.");
    s.dims = {DimSpec::of("N", 1, 512, "elements", 4)};
    s.tensors = {tensor("x", DType::f32, Role::in, shape_of({"N"})),
                 tensor("y", DType::f32, Role::out, shape_of({"N"}))};
    return s;
  }

  void run(Context& ctx) override {
    const std::int64_t n = ctx.dim("N");
    auto* staged = static_cast<float*>(ctx.allocate("staged", n * sizeof(float)));
    if (ctx.ended()) return;
    auto* x = ctx.tensor("x").data<float>();
    if (kFixed)
      launch(ctx, "stage", stage_exactly, one_thread_each(n), x, staged, n);
    else
      launch(ctx, "stage", stage, one_thread_each(ceil_div(n, 4)), x, staged, n);
    launch(ctx, "halve", halve, one_thread_each(n), staged, ctx.tensor("y").data<float>(), n);
    ctx.free(staged);
  }

  void reference(ReferenceCall& call) const override {
    const auto x = call.input("x");
    const auto y = call.output("y");
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = (x[i] + 1) / 2;
  }
};

}  // namespace pool_overrun

void add_pool_overrun(Registrar& registrar) {
  add_pair<pool_overrun::PoolOverrun>(registrar);
}

}  // namespace redzone::puzzles

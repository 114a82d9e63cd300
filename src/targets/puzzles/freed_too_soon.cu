// puzzle: freed_too_soon
// bug: a temporary is freed before the kernel that reads it is enqueued
// kin: a tensor that goes out of scope while a raw pointer to it is still passed on
// expect: use-after-free | async | uninitialized
// minimal: 1 call; N=1
#include "kit.h"
#include "puzzles.h"

namespace redzone::puzzles {
namespace freed_too_soon {

__global__ void negate(const float* x, float* staged, std::int64_t n) {
  const std::int64_t i = global_thread();
  if (i < n) staged[i] = -x[i];
}

__global__ void gather(const float* staged, float* y, std::int64_t n) {
  const std::int64_t i = global_thread();
  if (i < n) y[i] = staged[i] + 1;
}

template <bool kFixed>
struct FreedTooSoon : Target {
  static TargetSpec spec() {
    auto s = pair_spec<kFixed>("freed_too_soon", "y = 1 - x through a temporary.");
    const auto all = shape_of({"N"});
    s.tensors = {tensor("x", DType::f32, Role::in, all), tensor("y", DType::f32, Role::out, all)};
    s.dims = {DimSpec::of("N", 1, 512, "elements", kBlock)};
    return s;
  }

  void run(Context& ctx) override {
    const std::int64_t n = ctx.dim("N");
    auto* staged = static_cast<float*>(ctx.allocate("staged", n * sizeof(float)));
    if (ctx.ended()) return;
    launch(ctx, "negate", negate, one_thread_each(n), ctx.tensor("x").data<float>(), staged, n);
    if (!kFixed) ctx.free(staged);
    launch(ctx, "gather", gather, one_thread_each(n), static_cast<const float*>(staged),
           ctx.tensor("y").data<float>(), n);
    if (kFixed) ctx.free(staged);
  }

  void reference(ReferenceCall& call) const override {
    const auto x = call.input("x");
    const auto y = call.output("y");
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = 1 - x[i];
  }
};

}  // namespace freed_too_soon

void add_freed_too_soon(Registrar& registrar) {
  add_pair<freed_too_soon::FreedTooSoon>(registrar);
}

}  // namespace redzone::puzzles

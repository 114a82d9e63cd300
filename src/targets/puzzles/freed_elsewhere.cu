// puzzle: freed_elsewhere
// bug: a temporary is freed on a stream that never used it, while the stream that did has it queued
// kin: cudaFreeAsync on a clean-up stream without an event behind the last kernel
// expect: order | use-after-free | async | schedule | uninitialized
// minimal: 1 call, async; N=1
#include "kit.h"
#include "puzzles.h"

namespace redzone::puzzles {
namespace freed_elsewhere {

__global__ void halve(const float* x, float* staged, std::int64_t n) {
  const std::int64_t i = global_thread();
  if (i < n) staged[i] = x[i] / 2;
}

__global__ void mirror(const float* staged, float* y, std::int64_t n) {
  const std::int64_t i = global_thread();
  if (i < n) y[i] = staged[n - 1 - i];
}

template <bool kFixed>
struct FreedElsewhere : Target {
  static TargetSpec spec() {
    auto s = pair_spec<kFixed>("freed_elsewhere", "Reverses x / 2 through a temporary.");
    s.dims = {DimSpec::of("N", 1, 512, "elements", kBlock)};
    s.tensors = {tensor("x", DType::f32, Role::in, shape_of({"N"})),
                 tensor("y", DType::f32, Role::out, shape_of({"N"}))};
    s.side_streams = 1;
    s.capturable = false;  // its clean-up stream is not joined
    return s;
  }

  void run(Context& ctx) override {
    const std::int64_t n = ctx.dim("N");
    void* staged = ctx.allocate("staged", n * sizeof(float));
    if (ctx.ended()) return;
    launch(ctx, "halve", halve, one_thread_each(n), ctx.tensor("x").data<float>(),
           static_cast<float*>(staged), n);
    launch(ctx, "mirror", mirror, one_thread_each(n), static_cast<const float*>(staged),
           ctx.tensor("y").data<float>(), n);
    if (kFixed) ctx.wait(1, 0);
    ctx.free(staged, 1);
  }

  void reference(ReferenceCall& call) const override {
    const auto x = call.input("x");
    const auto y = call.output("y");
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[x.size() - 1 - i] / 2;
  }
};

}  // namespace freed_elsewhere

void add_freed_elsewhere(Registrar& registrar) {
  add_pair<freed_elsewhere::FreedElsewhere>(registrar);
}

}  // namespace redzone::puzzles

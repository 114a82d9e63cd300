// control: atomic_float
// expect: nothing
//
// Sums with float atomics: the order of the additions, and so the last bits, differ from run to
// run. It is declared nondeterministic; only the reference, with a tolerance, may judge it.
#include "kit.h"
#include "puzzles.h"

namespace redzone::puzzles {
namespace atomic_float {

__global__ void clear(float* y, std::int64_t groups) {
  const std::int64_t g = global_thread();
  if (g < groups) y[g] = 0;
}

// y[g] is the sum of the x[i] with i % groups == g.
__global__ void scatter_sum(const float* x, float* y, std::int64_t n, std::int64_t groups) {
  const std::int64_t i = global_thread();
  if (i < n) atomicAdd(&y[i % groups], x[i]);
}

struct AtomicFloat : Target {
  static TargetSpec spec() {
    TargetSpec s;
    s.name = "control.atomic_float";
    s.doc = "Group sums by float atomics, in whatever order the blocks run.";
    s.category = Category::twin;
    s.dims = {DimSpec::of("N", 0, 2048, "elements", kBlock), DimSpec::of("G", 1, 8, "groups")};
    s.tensors = {tensor("x", DType::f32, Role::in, shape_of({"N"})),
                 tensor("y", DType::f32, Role::out, shape_of({"G"}))};
    s.knobs = {{"block", {kBlock, 2 * kBlock, 4 * kBlock}, "threads of a block"}};
    s.tolerance = {1e-3, 1e-4};
    s.deterministic = false;
    s.has_reference = true;
    return s;
  }

  void run(Context& ctx) override {
    const std::int64_t n = ctx.dim("N"), groups = ctx.dim("G"), block = ctx.knob("block");
    auto* y = ctx.tensor("y").data<float>();
    launch(ctx, "clear", clear, one_thread_each(groups, block), y, groups);
    if (n > 0)
      launch(ctx, "scatter_sum", scatter_sum, one_thread_each(n, block),
             ctx.tensor("x").data<float>(), y, n, groups);
  }

  void reference(ReferenceCall& call) const override {
    const auto x = call.input("x");
    const auto y = call.output("y");
    for (std::size_t i = 0; i < x.size(); ++i) y[i % y.size()] += x[i];
  }
};

}  // namespace atomic_float

void add_atomic_float(Registrar& registrar) {
  registrar.add<atomic_float::AtomicFloat>();
}

}  // namespace redzone::puzzles

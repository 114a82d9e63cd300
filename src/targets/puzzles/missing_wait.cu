// puzzle: missing_wait
// bug: a dependent launch reads what its predecessor writes without waiting for it
// kin: kernels launched with programmatic stream serialization and without griddepcontrol.wait
// expect: async | schedule | uninitialized | nondeterministic
// minimal: 1 call, async; N=1
#include "kit.h"
#include "puzzles.h"

namespace redzone::puzzles {
namespace missing_wait {

__global__ void center(const float* x, float* staged, std::int64_t n) {
  trigger_dependents();
  const std::int64_t i = global_thread();
  if (i < n) staged[i] = x[i] - 1;
}

template <bool kFixed>
__global__ void reverse(const float* staged, float* y, std::int64_t n) {
  const std::int64_t i = global_thread();
  if (kFixed) wait_for_producer();
  if (i < n) y[i] = staged[n - 1 - i];
}

template <bool kFixed>
struct MissingWait : Target {
  static TargetSpec spec() {
    auto s = pair_spec<kFixed>("missing_wait", "Reverses x - 1 in a dependent launch.");
    s.dims = {DimSpec::of("N", 1, 512, "elements", kBlock)};
    s.tensors = {tensor("x", DType::f32, Role::in, shape_of({"N"})),
                 tensor("y", DType::f32, Role::out, shape_of({"N"}))};
    s.min_compute_capability = 90;
    return s;
  }

  void run(Context& ctx) override {
    const std::int64_t n = ctx.dim("N");
    const auto* x = ctx.tensor("x").data<const float>();
    auto* y = ctx.tensor("y").data<float>();
    auto* staged = static_cast<float*>(ctx.scratch("staged", n * sizeof(float), sizeof(float)));
    if (ctx.ended()) return;
    LaunchShape shape = one_thread_each(n);
    launch(ctx, "center", center, shape, x, staged, n);
    shape.dependent = true;
    launch(ctx, "reverse", reverse<kFixed>, shape, staged, y, n);
  }

  void reference(ReferenceCall& call) const override {
    const auto x = call.input("x");
    const auto y = call.output("y");
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[x.size() - 1 - i] - 1;
  }
};

}  // namespace missing_wait

void add_missing_wait(Registrar& registrar) {
  add_pair<missing_wait::MissingWait>(registrar);
}

}  // namespace redzone::puzzles

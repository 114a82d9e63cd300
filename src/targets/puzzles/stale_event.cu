// puzzle: stale_event
// bug: the event behind the front is waited for again before the back, without a new record
// kin: cudaEventRecord hoisted out of the loop whose cudaStreamWaitEvent stays inside
// expect: order | async | schedule | uninitialized
// minimal: 1 call, async; N=2
#include "kit.h"
#include "puzzles.h"

namespace redzone::puzzles {
namespace stale_event {

__global__ void square(const float* x, float* staged, std::int64_t n) {
  const std::int64_t i = global_thread();
  if (i < n) staged[i] = x[i] * x[i];
}

__global__ void decrement(const float* staged, float* y, std::int64_t n) {
  const std::int64_t i = global_thread();
  if (i < n) y[i] = staged[i] - 1;
}

template <bool kFixed>
struct StaleEvent : Target {
  static TargetSpec spec() {
    auto s = pair_spec<kFixed>("stale_event", "x * x - 1 in two halves, on two streams.");
    s.dims = {DimSpec::of("N", 2, 512, "elements", kBlock)};
    s.tensors = {tensor("x", DType::f32, Role::in, shape_of({"N"}), integers(-9, 9)),
                 tensor("y", DType::f32, Role::out, shape_of({"N"}))};
    s.side_streams = 1;
    s.capturable = false;  // the event is recorded once, and a replay records none
    return s;
  }

  void run(Context& ctx) override {
    const std::int64_t n = ctx.dim("N");
    run_half(ctx, "front", 0, n / 2);
    run_half(ctx, "back", n / 2, n - n / 2);
    ctx.wait(0, 1);
  }

  void reference(ReferenceCall& call) const override {
    const auto x = call.input("x");
    const auto y = call.output("y");
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[i] * x[i] - 1;
  }

 private:
  void run_half(Context& ctx, const char* name, std::int64_t first, std::int64_t count) {
    auto* staged = static_cast<float*>(ctx.scratch(name, count * sizeof(float), sizeof(float)));
    if (ctx.ended()) return;
    auto on_side = one_thread_each(count);
    on_side.stream = 1;
    launch(ctx, "square", square, one_thread_each(count), ctx.tensor("x").data<float>() + first,
           staged, count);
    // An event that has passed holds nothing up.
    if (kFixed || first == 0) ctx.wait(1, 0);
    launch(ctx, "decrement", decrement, on_side, static_cast<const float*>(staged),
           ctx.tensor("y").data<float>() + first, count);
  }
};

}  // namespace stale_event

void add_stale_event(Registrar& registrar) {
  add_pair<stale_event::StaleEvent>(registrar);
}

}  // namespace redzone::puzzles

// puzzle: stream_reuse
// bug: a temporary goes back to the allocator on the stream that filled it while the side stream
//      that reads it has it still queued
// kin: PyTorch tensors used on a side stream without record_stream
// expect: order | async | schedule | uninitialized | allocation
// minimal: repros/stream_reuse.toml
#include "kit.h"
#include "puzzles.h"

namespace redzone::puzzles {
namespace stream_reuse {

__global__ void stage(const float* x, float* staged, std::int64_t n) {
  const std::int64_t i = global_thread();
  if (i < n) staged[i] = x[i] + 1;
}

// y[i] is the sum of the elements up to i.
__global__ void prefix_sum(const float* staged, float* y, std::int64_t n) {
  const std::int64_t i = global_thread();
  if (i >= n) return;
  float sum = 0;
  for (std::int64_t k = 0; k <= i; ++k) sum += staged[k];
  y[i] = sum;
}

template <bool kFixed>
struct StreamReuse : Target {
  static TargetSpec spec() {
    auto s = pair_spec<kFixed>("stream_reuse", "Prefix sums of x + 1, summed on a side stream.");
    s.dims = {DimSpec::of("N", 1, 512, "elements", kBlock)};
    s.tensors = {tensor("x", DType::f32, Role::in, shape_of({"N"}), integers(-4, 4)),
                 tensor("y", DType::f32, Role::out, shape_of({"N"}))};
    s.side_streams = 1;
    return s;
  }

  void run(Context& ctx) override {
    const std::int64_t n = ctx.dim("N");
    void* staged = ctx.allocate("staged", n * sizeof(float));
    if (ctx.ended()) return;
    auto on_side = one_thread_each(n);
    on_side.stream = 1;
    launch(ctx, "stage", stage, one_thread_each(n), ctx.tensor("x").data<float>(),
           static_cast<float*>(staged), n);
    ctx.wait(1, 0);
    launch(ctx, "prefix_sum", prefix_sum, on_side, static_cast<float*>(staged),
           ctx.tensor("y").data<float>(), n);
    if (kFixed) ctx.wait(0, 1);
    ctx.free(staged);
  }

  void reference(ReferenceCall& call) const override {
    const auto x = call.input("x");
    const auto y = call.output("y");
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = sum += x[i] + 1;
  }
};

}  // namespace stream_reuse

void add_stream_reuse(Registrar& registrar) {
  add_pair<stream_reuse::StreamReuse>(registrar);
}

}  // namespace redzone::puzzles

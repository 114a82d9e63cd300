// puzzle: uninit_scratch
// bug: the scratch bins are zeroed in whole groups of four, so the last K % 4 start with what was
//      in memory
// kin: a workspace from an empty allocation where zeros were meant
// expect: uninitialized y
// minimal: 1 call; K=1 N=0
#include <algorithm>

#include "kit.h"
#include "puzzles.h"

namespace redzone::puzzles {
namespace uninit_scratch {

__global__ void zero(std::int32_t* bins, std::int64_t count) {
  const std::int64_t i = global_thread();
  if (i < count) bins[i] = 0;
}

__global__ void histogram(const std::int32_t* x, std::int32_t* bins, std::int64_t n) {
  const std::int64_t i = global_thread();
  if (i < n) atomicAdd(&bins[x[i]], 1);
}

__global__ void emit(const std::int32_t* bins, std::int32_t* y, std::int64_t count) {
  const std::int64_t i = global_thread();
  if (i < count) y[i] = bins[i];
}

template <bool kFixed>
struct UninitScratch : Target {
  static TargetSpec spec() {
    auto s = pair_spec<kFixed>("uninit_scratch", "Counts values in bins that live in scratch.");
    s.dims = {DimSpec::of("K", 1, 128, "bins"), DimSpec::of("N", 0, 512, "values", kBlock)};
    const auto values = Fill::integers([](const Dims& d) { return Range{0, get(d, "K") - 1}; });
    s.tensors = {tensor("x", DType::i32, Role::in, shape_of({"N"}), values),
                 tensor("y", DType::i32, Role::out, shape_of({"K"}))};
    return s;
  }

  void run(Context& ctx) override {
    const std::int64_t count = ctx.dim("K"), n = ctx.dim("N");
    auto* bins = static_cast<std::int32_t*>(
        ctx.scratch("bins", count * sizeof(std::int32_t), sizeof(std::int32_t)));
    if (ctx.ended()) return;
    const std::int64_t zeroed = kFixed ? count : count / 4 * 4;
    if (zeroed > 0) launch(ctx, "zero", zero, one_thread_each(zeroed), bins, zeroed);
    if (n > 0)
      launch(ctx, "histogram", histogram, one_thread_each(n), ctx.tensor("x").data<std::int32_t>(),
             bins, n);
    launch(ctx, "emit", emit, one_thread_each(count), bins, ctx.tensor("y").data<std::int32_t>(),
           count);
  }

  void reference(ReferenceCall& call) const override {
    for (double x : call.input("x")) call.output("y")[static_cast<std::size_t>(x)] += 1;
  }
};

}  // namespace uninit_scratch

void add_uninit_scratch(Registrar& registrar) {
  add_pair<uninit_scratch::UninitScratch>(registrar);
}

}  // namespace redzone::puzzles

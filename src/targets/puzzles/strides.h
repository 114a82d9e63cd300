// y = x / 2 for an input that need not be contiguous: shared by strides_ignored and pitch_ignored.
#pragma once

#include "kit.h"
#include "puzzles.h"

namespace redzone::puzzles {

template <bool kFixed>
__global__ void halve(Matrix<const float> x, float* y, std::int64_t rows, std::int64_t cols) {
  const std::int64_t i = global_thread();
  if (i >= rows * cols) return;
  y[i] = (kFixed ? x.at(i / cols, i % cols) : x.base[i]) / 2;
}

// Case has kName and kRules, the layouts that x may have.
template <class Case, bool kFixed>
struct Halve : Target {
  static TargetSpec spec() {
    auto s = pair_spec<kFixed>(Case::kName, "y = x / 2 for a non-contiguous x.");
    s.dims = {DimSpec::of("R", 0, 32, "rows"), DimSpec::of("C", 1, 32, "columns")};
    s.tensors = {tensor("x", DType::f32, Role::in, shape_of({"R", "C"}), {}, Case::kRules),
                 tensor("y", DType::f32, Role::out, shape_of({"R", "C"}))};
    return s;
  }

  void run(Context& ctx) override {
    const std::int64_t rows = ctx.dim("R"), cols = ctx.dim("C");
    if (rows == 0) return;
    launch(ctx, "halve", halve<kFixed>, one_thread_each(rows * cols),
           matrix<const float>(ctx.tensor("x")), ctx.tensor("y").data<float>(), rows, cols);
  }

  void reference(ReferenceCall& call) const override {
    const auto x = call.input("x");
    const auto y = call.output("y");
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[i] / 2;
  }
};

}  // namespace redzone::puzzles

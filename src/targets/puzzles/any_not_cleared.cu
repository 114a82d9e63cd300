// puzzle: any_not_cleared
// bug: a thread sets the flag of its row if its value is large, and nothing cleared it before
// kin: reductions with `or` into an empty allocation where zeros were meant
// expect: uninitialized y
// minimal: 1 call; C=0 R=1
#include "kit.h"
#include "puzzles.h"

namespace redzone::puzzles {
namespace any_not_cleared {

constexpr float kLarge = 0.75f;

__global__ void clear(bool* y, std::int64_t rows) {
  const std::int64_t r = global_thread();
  if (r < rows) y[r] = false;
}

__global__ void set_if_large(const float* x, bool* y, std::int64_t rows, std::int64_t cols) {
  const std::int64_t i = global_thread();
  if (i < rows * cols && x[i] > kLarge) y[i / cols] = true;
}

template <bool kFixed>
struct AnyNotCleared : Target {
  static TargetSpec spec() {
    auto s = pair_spec<kFixed>("any_not_cleared", "Says which rows hold a large value.");
    s.dims = {DimSpec::of("R", 0, 64, "rows"), DimSpec::of("C", 0, 16, "columns")};
    s.tensors = {tensor("x", DType::f32, Role::in, shape_of({"R", "C"})),
                 tensor("y", DType::boolean, Role::out, shape_of({"R"}))};
    return s;
  }

  void run(Context& ctx) override {
    const std::int64_t rows = ctx.dim("R"), cols = ctx.dim("C");
    auto* y = ctx.tensor("y").data<bool>();
    if (kFixed && rows > 0) launch(ctx, "clear", clear, one_thread_each(rows), y, rows);
    if (rows * cols > 0)
      launch(ctx, "set_if_large", set_if_large, one_thread_each(rows * cols),
             ctx.tensor("x").data<float>(), y, rows, cols);
  }

  void reference(ReferenceCall& call) const override {
    const auto x = call.input("x");
    const auto y = call.output("y");
    const std::size_t cols = call.dim("C");
    for (std::size_t i = 0; i < x.size(); ++i)
      if (x[i] > kLarge) y[i / cols] = 1;
  }
};

}  // namespace any_not_cleared

void add_any_not_cleared(Registrar& registrar) {
  add_pair<any_not_cleared::AnyNotCleared>(registrar);
}

}  // namespace redzone::puzzles

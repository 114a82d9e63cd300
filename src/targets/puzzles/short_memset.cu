// puzzle: short_memset
// bug: the sums are cleared for as many bytes as there are elements, so that three quarters of them
//      keep what was in memory
// kin: cudaMemsetAsync(p, 0, n) where n * sizeof(*p) was meant
// expect: uninitialized y
// minimal: 1 call; R=1 C=1
#include "kit.h"
#include "puzzles.h"

namespace redzone::puzzles {
namespace short_memset {

__global__ void add_rows(const std::int32_t* x, std::int32_t* y, std::int64_t rows,
                         std::int64_t columns) {
  const std::int64_t i = global_thread();
  if (i < rows * columns) atomicAdd(&y[i / columns], x[i]);
}

template <bool kFixed>
struct ShortMemset : Target {
  static TargetSpec spec() {
    auto s = pair_spec<kFixed>("short_memset", "y = the sums of the rows of x, added up in place.");
    s.dims = {DimSpec::of("R", 1, 300, "rows", 4), DimSpec::of("C", 1, 100, "columns", 32)};
    s.tensors = {tensor("x", DType::i32, Role::in, shape_of({"R", "C"}), integers(-8, 8)),
                 tensor("y", DType::i32, Role::out, shape_of({"R"}))};
    return s;
  }

  void run(Context& ctx) override {
    const std::int64_t rows = ctx.dim("R"), columns = ctx.dim("C");
    auto* y = ctx.tensor("y").data<std::int32_t>();
    const auto elements = static_cast<std::size_t>(rows);
    ctx.memset(y, 0, kFixed ? elements * sizeof(*y) : elements);
    launch(ctx, "add_rows", add_rows, one_thread_each(rows * columns),
           ctx.tensor("x").data<std::int32_t>(), y, rows, columns);
  }

  void reference(ReferenceCall& call) const override {
    const auto x = call.input("x");
    const auto y = call.output("y");
    const auto columns = static_cast<std::size_t>(call.dim("C"));
    for (std::size_t i = 0; i < x.size(); ++i) y[i / columns] += x[i];
  }
};

}  // namespace short_memset

void add_short_memset(Registrar& registrar) {
  add_pair<short_memset::ShortMemset>(registrar);
}

}  // namespace redzone::puzzles

// puzzle: negative_stride
// bug: a stride goes through an unsigned integer of 32 bits on its way to a 64-bit argument: a
//      negative one comes out as 2^32 less its size
// kin: launchers that pack strides as int32, and kernels that widen them without their sign
// expect: illegal-access read
// minimal: 1 call; R=2 C=1 x.reversed=0
#include "kit.h"
#include "puzzles.h"

namespace redzone::puzzles {
namespace negative_stride {

__global__ void thirds(Matrix<const float> x, float* y, std::int64_t rows, std::int64_t cols) {
  const std::int64_t i = global_thread();
  if (i < rows * cols) y[i] = x.at(i / cols, i % cols) * 3;
}

template <bool kFixed>
struct NegativeStride : Target {
  static TargetSpec spec() {
    auto s = pair_spec<kFixed>("negative_stride", "y = 3 x for an x that may run backwards.");
    s.dims = {DimSpec::of("R", 0, 64, "rows"), DimSpec::of("C", 1, 32, "columns")};
    LayoutRules backwards;
    backwards.reversed = true;
    s.tensors = {tensor("x", DType::f32, Role::in, shape_of({"R", "C"}), {}, backwards),
                 tensor("y", DType::f32, Role::out, shape_of({"R", "C"}))};
    return s;
  }

  void run(Context& ctx) override {
    const std::int64_t rows = ctx.dim("R"), cols = ctx.dim("C");
    if (rows == 0) return;
    auto x = matrix<const float>(ctx.tensor("x"));
    if (!kFixed) x.row = static_cast<std::uint32_t>(x.row);
    launch(ctx, "thirds", thirds, one_thread_each(rows * cols), x, ctx.tensor("y").data<float>(),
           rows, cols);
  }

  void reference(ReferenceCall& call) const override {
    const auto x = call.input("x");
    const auto y = call.output("y");
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[i] * 3;
  }
};

}  // namespace negative_stride

void add_negative_stride(Registrar& registrar) {
  add_pair<negative_stride::NegativeStride>(registrar);
}

}  // namespace redzone::puzzles

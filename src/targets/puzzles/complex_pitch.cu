// puzzle: complex_pitch
// bug: the row pitch, which counts complex elements, is added to a pointer to floats
// kin: kernels that get a complex tensor as its view of reals, with the strides of the tensor
// expect: reference y
// minimal: 1 call; C=1 R=2
#include "kit.h"
#include "puzzles.h"

namespace redzone::puzzles {
namespace complex_pitch {

// y = conj(x). x has pairs of floats, and y is dense.
template <bool kFixed>
__global__ void conjugate(const float* x, std::int64_t pitch, float* y, std::int64_t rows,
                          std::int64_t cols) {
  const std::int64_t i = global_thread();
  if (i >= rows * cols) return;
  const float* row = x + (i / cols) * pitch * (kFixed ? 2 : 1);
  y[2 * i] = row[2 * (i % cols)];
  y[2 * i + 1] = -row[2 * (i % cols) + 1];
}

template <bool kFixed>
struct ComplexPitch : Target {
  static TargetSpec spec() {
    auto s = pair_spec<kFixed>("complex_pitch", "The complex conjugate of a matrix.");
    s.dims = {DimSpec::of("R", 0, 32, "rows"), DimSpec::of("C", 1, 32, "columns")};
    s.tensors = {tensor("x", DType::c64, Role::in, shape_of({"R", "C"})),
                 tensor("y", DType::c64, Role::out, shape_of({"R", "C"}))};
    return s;
  }

  void run(Context& ctx) override {
    const std::int64_t rows = ctx.dim("R"), cols = ctx.dim("C");
    if (rows == 0) return;
    const auto x = ctx.tensor("x");
    launch(ctx, "conjugate", conjugate<kFixed>, one_thread_each(rows * cols), x.data<float>(),
           x.strides[0], ctx.tensor("y").data<float>(), rows, cols);
  }

  void reference(ReferenceCall& call) const override {
    const auto x = call.input("x");
    const auto y = call.output("y");
    for (std::size_t i = 0; i < x.size(); i += 2) {
      y[i] = x[i];
      y[i + 1] = -x[i + 1];
    }
  }
};

}  // namespace complex_pitch

void add_complex_pitch(Registrar& registrar) {
  add_pair<complex_pitch::ComplexPitch>(registrar);
}

}  // namespace redzone::puzzles

// puzzle: masked_garbage
// bug: rows that the mask skips are never written, and whoever reads them gets what was in memory
// kin: padded rows of variable-length attention whose outputs come from an empty allocation
// expect: uninitialized y
// minimal: 1 call; R=1 W=1
#include "kit.h"
#include "puzzles.h"

namespace redzone::puzzles {
namespace masked_garbage {

// y = -x where segment[r] > 0; rows of segment 0 are padding, and 0 in y.
template <bool kFixed>
__global__ void negate_kept(const std::int32_t* segment, const float* x, float* y,
                            std::int64_t rows, std::int64_t width) {
  const std::int64_t i = global_thread();
  if (i >= rows * width) return;
  const bool kept = segment[i / width] > 0;
  if (!kFixed && !kept) return;
  y[i] = kept ? -x[i] : 0;
}

template <bool kFixed>
struct MaskedGarbage : Target {
  static TargetSpec spec() {
    auto s = pair_spec<kFixed>("masked_garbage", "Negates the rows that a mask keeps.");
    s.dims = {DimSpec::of("R", 0, 64, "rows"), DimSpec::of("W", 1, 32, "row width")};
    const auto segments = Fill::integers([](const Dims& d) {
      return Range{0, std::max<std::int64_t>(get(d, "R") - 1, 0)};
    });
    s.tensors = {tensor("segment", DType::i32, Role::in, shape_of({"R"}), segments),
                 tensor("x", DType::f32, Role::in, shape_of({"R", "W"})),
                 tensor("y", DType::f32, Role::out, shape_of({"R", "W"}))};
    return s;
  }

  void run(Context& ctx) override {
    const std::int64_t rows = ctx.dim("R"), width = ctx.dim("W");
    if (rows == 0) return;
    launch(ctx, "negate_kept", negate_kept<kFixed>, one_thread_each(rows * width),
           ctx.tensor("segment").data<std::int32_t>(), ctx.tensor("x").data<float>(),
           ctx.tensor("y").data<float>(), rows, width);
  }

  void reference(ReferenceCall& call) const override {
    const auto segment = call.input("segment");
    const auto x = call.input("x");
    const auto y = call.output("y");
    const std::size_t width = call.dim("W");
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = segment[i / width] > 0 ? -x[i] : 0;
  }
};

}  // namespace masked_garbage

void add_masked_garbage(Registrar& registrar) {
  add_pair<masked_garbage::MaskedGarbage>(registrar);
}

}  // namespace redzone::puzzles

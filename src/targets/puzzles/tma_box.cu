// puzzle: tma_box
// bug: the box is as wide as a row, which for the widest of the head dims is more than the swizzle
//      spans
// kin: kernels that are instantiated for head dims 64 and 128 and later for 256
// expect: fault
// minimal: 1 call; N=1 D=64
#include "tiles.h"

namespace redzone::puzzles {
namespace tma_box {

template <bool kFixed>
struct TmaBox : Target {
  static TargetSpec spec() {
    auto s = pair_spec<kFixed>("tma_box", "Sums rows through TMA.");
    s.dims = {DimSpec::of("N", 0, 64, "rows", kTileRows), width_dim()};
    s.tensors = {tensor("x", DType::f32, Role::in, shape_of({"N", "D"}), integers(1, 9)),
                 tensor("y", DType::f32, Role::out, shape_of({"N"}))};
    s.tensors[0].align_bytes = 16;
    s.min_compute_capability = 90;
    return s;
  }

  void run(Context& ctx) override {
    const std::int64_t rows = ctx.dim("N"), width = ctx.dim("D");
    if (rows == 0) return;
    const auto x = matrix<const float>(ctx.tensor("x"));
    TensorMap map;
    const std::int64_t columns = kFixed ? panel_of(width) : width;
    const auto status =
        ctx.encode_tiled("x", rows_descriptor(x.base, rows, width, width * 4, columns), map);
    if (!status) return fail_of(ctx, "x", status);
    launch_row_sums<true>(ctx, map, x, ctx.tensor("y").data<float>(), rows, width);
  }

  void reference(ReferenceCall& call) const override { reference_row_sums(call); }
};

}  // namespace tma_box

void add_tma_box(Registrar& registrar) {
  add_pair<tma_box::TmaBox>(registrar);
}

}  // namespace redzone::puzzles

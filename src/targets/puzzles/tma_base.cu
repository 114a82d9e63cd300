// puzzle: tma_base
// bug: the wrapper looks at the strides before it takes the path through TMA and not at the base,
//      which a slice leaves at a multiple of 4 bytes
// kin: wrappers around TMA that are given x[1:] of a tensor with short rows
// expect: fault
// minimal: 1 call; N=1 D=8 x.offset=1
#include "tiles.h"

namespace redzone::puzzles {
namespace tma_base {

template <bool kFixed>
struct TmaBase : Target {
  static TargetSpec spec() {
    auto s = pair_spec<kFixed>("tma_base", "Sums rows of a slice, through TMA where that can be.");
    s.dims = {DimSpec::of("N", 0, 64, "rows", kTileRows), width_dim()};
    LayoutRules slices;
    slices.row_padding = slices.offset = true;
    s.tensors = {tensor("x", DType::f32, Role::in, shape_of({"N", "D"}), integers(1, 9), slices),
                 tensor("y", DType::f32, Role::out, shape_of({"N"}))};
    s.tensors[0].align_bytes = 16;  // of the storage
    s.min_compute_capability = 90;
    return s;
  }

  void run(Context& ctx) override {
    const std::int64_t rows = ctx.dim("N"), width = ctx.dim("D");
    if (rows == 0) return;
    const auto x = matrix<const float>(ctx.tensor("x"));
    float* y = ctx.tensor("y").data<float>();
    TensorMap map;
    const bool fits =
        x.row * 4 % 16 == 0 && (!kFixed || reinterpret_cast<std::uintptr_t>(x.base) % 16 == 0);
    if (!fits) return launch_row_sums<false>(ctx, map, x, y, rows, width);
    const auto status = ctx.encode_tiled(
        "x", rows_descriptor(x.base, rows, width, x.row * 4, panel_of(width)), map);
    if (!status) return fail_of(ctx, "x", status);
    launch_row_sums<true>(ctx, map, x, y, rows, width);
  }

  void reference(ReferenceCall& call) const override { reference_row_sums(call); }
};

}  // namespace tma_base

void add_tma_base(Registrar& registrar) {
  add_pair<tma_base::TmaBase>(registrar);
}

}  // namespace redzone::puzzles

// puzzle: tma_cached_map
// bug: descriptors are cached by the address of the buffer; a later call has more rows in it, and
//      those are out of the bounds of the cached descriptor
// kin: caches of descriptors by data_ptr() in wrappers around Triton and CUTLASS kernels
// expect: history y
// minimal: 2 calls; N=1; N=2
#include <map>

#include "tiles.h"

namespace redzone::puzzles {
namespace tma_cached_map {

constexpr int kWidth = 8;
constexpr std::int64_t kMostRows = 64;

__global__ void pack(const float* x, float* packed, std::int64_t n) {
  const std::int64_t i = global_thread();
  if (i < n) packed[i] = x[i];
}

template <bool kFixed>
struct TmaCachedMap : Target {
  static TargetSpec spec() {
    auto s = pair_spec<kFixed>("tma_cached_map", "Sums rows that are packed into a workspace.");
    s.dims = {DimSpec::of("N", 0, kMostRows, "rows", kTileRows)};
    const auto rows = [](const Dims& d) { return Shape{get(d, "N"), kWidth}; };
    s.tensors = {tensor("x", DType::f32, Role::in, rows, integers(1, 9)),
                 tensor("y", DType::f32, Role::out, shape_of({"N"}))};
    s.min_compute_capability = 90;
    return s;
  }

  void run(Context& ctx) override {
    const std::int64_t rows = ctx.dim("N");
    if (rows == 0) return;
    auto* packed = static_cast<float*>(ctx.workspace("packed", kMostRows * kWidth * 4));
    if (ctx.ended()) return;
    launch(ctx, "pack", pack, one_thread_each(rows * kWidth), ctx.tensor("x").data<float>(), packed,
           rows * kWidth);
    const auto [entry, fresh] = maps_.try_emplace({packed, kFixed ? rows : 0});
    if (fresh) {
      const auto status = ctx.encode_tiled(
          "packed", rows_descriptor(packed, rows, kWidth, kWidth * 4, kWidth), entry->second);
      if (!status) return fail_of(ctx, "packed", status);
    }
    launch_row_sums<true>(ctx, entry->second, {packed, kWidth, 1}, ctx.tensor("y").data<float>(),
                          rows, kWidth);
  }

  void reference(ReferenceCall& call) const override {
    const auto x = call.input("x");
    const auto y = call.output("y");
    for (std::size_t i = 0; i < x.size(); ++i) y[i / kWidth] += x[i];
  }

 private:
  std::map<std::pair<const float*, std::int64_t>, TensorMap> maps_;
};

}  // namespace tma_cached_map

void add_tma_cached_map(Registrar& registrar) {
  add_pair<tma_cached_map::TmaCachedMap>(registrar);
}

}  // namespace redzone::puzzles

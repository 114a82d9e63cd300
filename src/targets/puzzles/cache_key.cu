// puzzle: cache_key
// bug: the cache of compiled variants has no key for D, though RDIM = next_power_of_2(D) is
//      compiled in: a later call with a larger D sums only the first RDIM columns
// kin: facebookexperimental/triton#2869; the chunked linear attention of pytorch/helion
// expect: history y
// minimal: 2 calls; N=1 D=1; N=1 D=2
// minimal: 2 calls; N=1 D=2; N=1 D=1
#include <map>

#include "kit.h"
#include "puzzles.h"

namespace redzone::puzzles {
namespace cache_key {

constexpr int kMaxD = 64;

template <int kRdim>
__global__ void row_sums(const float* x, float* y, std::int64_t rows, std::int64_t cols) {
  const std::int64_t row = global_thread();
  if (row >= rows) return;
  float sum = 0;
  for (int d = 0; d < kRdim; ++d)
    if (d < cols) sum += x[row * cols + d];
  y[row] = sum;
}

// The instance for next_power_of_2(cols).
template <int kRdim = 1>
KernelRef compile(std::int64_t cols) {
  if constexpr (kRdim < kMaxD)
    if (cols > kRdim) return compile<2 * kRdim>(cols);
  return kernel_ref("row_sums", row_sums<kRdim>);
}

template <bool kFixed>
struct CacheKey : Target {
  static TargetSpec spec() {
    auto s = pair_spec<kFixed>("cache_key", "Sums rows with the padded row length compiled in.");
    s.dims = {DimSpec::of("N", 0, 256, "rows", kBlock), DimSpec::of("D", 1, kMaxD, "columns")};
    s.tensors = {tensor("x", DType::f32, Role::in, shape_of({"N", "D"})),
                 tensor("y", DType::f32, Role::out, shape_of({"N"}))};
    s.knobs = {{"block", {kBlock, 2 * kBlock}, "threads of a block"}};
    return s;
  }

  void run(Context& ctx) override {
    const std::int64_t rows = ctx.dim("N"), cols = ctx.dim("D"), block = ctx.knob("block");
    if (rows == 0) return;
    const auto [entry, fresh] = variants_.try_emplace({block, kFixed ? cols : 0});
    if (fresh) entry->second = compile(cols);
    launch_exact<const float*, float*, std::int64_t, std::int64_t>(
        ctx, entry->second, one_thread_each(rows, block), ctx.tensor("x").data<float>(),
        ctx.tensor("y").data<float>(), rows, cols);
  }

  void reference(ReferenceCall& call) const override {
    const auto x = call.input("x");
    const auto y = call.output("y");
    const std::size_t cols = call.dim("D");
    for (std::size_t i = 0; i < x.size(); ++i) y[i / cols] += x[i];
  }

 private:
  std::map<std::pair<std::int64_t, std::int64_t>, KernelRef> variants_;
};

}  // namespace cache_key

void add_cache_key(Registrar& registrar) {
  add_pair<cache_key::CacheKey>(registrar);
}

}  // namespace redzone::puzzles

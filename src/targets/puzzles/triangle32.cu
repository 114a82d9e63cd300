// puzzle: triangle32
// bug: i * (i + 1) is computed in 32 bits and wraps in the last tiles, though half of it would fit
// kin: offsets into packed triangles and causal masks: i * (i + 1) / 2 with `int` indices
// expect: reference y
// minimal: 1 call; N=46342
#include "kit.h"
#include "puzzles.h"

namespace redzone::puzzles {
namespace triangle32 {

// The product of `int` arithmetic on every device: its low 32 bits, signed.
__device__ inline std::int64_t product32(std::int64_t a, std::int64_t b) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a * b));
}

// Where row i of a packed lower triangle begins.
template <bool kFixed>
__global__ void row_offsets(const std::int64_t* base, std::int64_t* y, std::int64_t n) {
  const std::int64_t i = global_thread();
  if (i < n) y[i] = *base + (kFixed ? i * (i + 1) : product32(i, i + 1)) / 2;
}

template <bool kFixed>
struct Triangle32 : Target {
  static TargetSpec spec() {
    auto s = pair_spec<kFixed>("triangle32", "Offsets of the rows of a packed triangle.");
    s.dims = {DimSpec::of("N", 1, 1 << 16, "rows", kBlock)};
    s.tensors = {
        tensor(
            "base", DType::i64, Role::in, [](const Dims&) { return Shape{1}; }, integers(0, 100)),
        tensor("y", DType::i64, Role::out, shape_of({"N"}))};
    return s;
  }

  void run(Context& ctx) override {
    const std::int64_t n = ctx.dim("N");
    launch(ctx, "row_offsets", row_offsets<kFixed>, one_thread_each(n),
           ctx.tensor("base").data<std::int64_t>(), ctx.tensor("y").data<std::int64_t>(), n);
  }

  void reference(ReferenceCall& call) const override {
    const double base = call.input("base")[0];
    const auto y = call.output("y");
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = base + static_cast<double>(i * (i + 1) / 2);
  }
};

}  // namespace triangle32

void add_triangle32(Registrar& registrar) {
  add_pair<triangle32::Triangle32>(registrar);
}

}  // namespace redzone::puzzles

// puzzle: shared_static
// bug: the dynamic shared-memory size of the first launch is kept in a C++ static
// kin: dropbox/gemlite#2
// expect: illegal-access | fault
// minimal: 2 calls; R=1 W=256; R=2 W=256
#include "kit.h"
#include "puzzles.h"

namespace redzone::puzzles {
namespace shared_static {

constexpr std::int64_t kWidth = 256;

// y = x with its rows in reverse order, through shared memory.
__global__ void flip_rows(const float* x, float* y, std::int64_t rows) {
  float* staged = dynamic_shared<float>();
  for (std::int64_t i = threadIdx.x; i < rows * kWidth; i += blockDim.x) staged[i] = x[i];
  __syncthreads();
  for (std::int64_t i = threadIdx.x; i < rows * kWidth; i += blockDim.x)
    y[i] = staged[(rows - 1 - i / kWidth) * kWidth + i % kWidth];
}

template <bool kFixed>
struct SharedStatic : Target {
  static TargetSpec spec() {
    auto s = pair_spec<kFixed>("shared_static", "Reverses the rows of a tile in shared memory.");
    s.dims = {DimSpec::of("R", 0, 32, "rows"), DimSpec::of("W", kWidth, kWidth, "row width")};
    s.tensors = {tensor("x", DType::f32, Role::in, shape_of({"R", "W"})),
                 tensor("y", DType::f32, Role::out, shape_of({"R", "W"}))};
    return s;
  }

  void run(Context& ctx) override {
    const std::int64_t rows = ctx.dim("R");
    if (rows == 0) return;
    const std::size_t bytes = rows * kWidth * sizeof(float);
    static const std::size_t first_bytes = bytes;
    launch(ctx, "flip_rows", flip_rows, {{1}, {kBlock}, kFixed ? bytes : first_bytes},
           ctx.tensor("x").data<float>(), ctx.tensor("y").data<float>(), rows);
  }

  void reference(ReferenceCall& call) const override {
    const auto x = call.input("x");
    const auto y = call.output("y");
    const std::int64_t rows = call.dim("R");
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t c = 0; c < kWidth; ++c) y[r * kWidth + c] = x[(rows - 1 - r) * kWidth + c];
  }
};

}  // namespace shared_static

void add_shared_static(Registrar& registrar) {
  add_pair<shared_static::SharedStatic>(registrar);
}

}  // namespace redzone::puzzles

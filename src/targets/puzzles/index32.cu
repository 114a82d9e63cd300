// puzzle: index32
// bug: row * pitch is computed in 32 bits and wraps when padded rows lie more than 2^31 elements
//      apart: the read goes 2 GiB before the buffer or, from 2^32 on, into the padding
// kin: pytorch/pytorch#183325; ggml-org/llama.cpp#13376
// expect: illegal-access | reference
// minimal: 1 call; R=2 C=1 x.row_padding=2147483647
// expect: uninitialized y
// minimal: 1 call; R=2 C=1 x.row_padding=4294967296
#include "kit.h"
#include "puzzles.h"

namespace redzone::puzzles {
namespace index32 {

// The result of `int` arithmetic on every device: the low 32 bits, signed.
__device__ inline std::int64_t wrapped32(std::int64_t offset) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(offset));
}

template <bool kFixed>
__global__ void copy_rows(const std::uint8_t* x, std::int64_t pitch, std::uint8_t* y,
                          std::int64_t rows, std::int64_t cols) {
  const std::int64_t i = global_thread();
  if (i >= rows * cols) return;
  const std::int64_t offset = i / cols * pitch + i % cols;
  y[i] = x[kFixed ? offset : wrapped32(offset)];
}

template <bool kFixed>
struct Index32 : Target {
  static TargetSpec spec() {
    auto s = pair_spec<kFixed>("index32", "Copies padded rows of bytes.");
    s.dims = {DimSpec::of("R", 0, 64, "rows"), DimSpec::of("C", 1, 64, "columns")};
    LayoutRules padded;
    padded.row_padding = true;
    const auto bytes = integers(0, 255);
    s.tensors = {tensor("x", DType::u8, Role::in, shape_of({"R", "C"}), bytes, padded),
                 tensor("y", DType::u8, Role::out, shape_of({"R", "C"}))};
    return s;
  }

  void run(Context& ctx) override {
    const std::int64_t rows = ctx.dim("R"), cols = ctx.dim("C");
    if (rows == 0) return;
    const auto x = ctx.tensor("x");
    launch(ctx, "copy_rows", copy_rows<kFixed>, one_thread_each(rows * cols),
           x.data<std::uint8_t>(), x.strides[0], ctx.tensor("y").data<std::uint8_t>(), rows, cols);
  }

  void reference(ReferenceCall& call) const override {
    const auto x = call.input("x");
    std::copy(x.begin(), x.end(), call.output("y").begin());
  }
};

}  // namespace index32

void add_index32(Registrar& registrar) {
  add_pair<index32::Index32>(registrar);
}

}  // namespace redzone::puzzles

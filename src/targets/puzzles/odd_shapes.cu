// control: odd_shapes
// expect: nothing
//
// A correct kernel that exercises every case that breaks wrong ones: tiles that do not divide the
// shape, ragged batches with empty rows, sizes of 0, strided inputs and outputs, two element types.
#include "kit.h"
#include "puzzles.h"

namespace redzone::puzzles {
namespace odd_shapes {

constexpr int kTile = 16;

template <class T>
struct Cube {
  T* base;
  std::int64_t strides[3];  // elements

  __device__ T& at(std::int64_t i, std::int64_t j, std::int64_t k) const {
    return base[i * strides[0] + j * strides[1] + k * strides[2]];
  }
};

template <class T>
Cube<T> cube(const TensorArg& t) {
  return {t.data<T>(), {t.strides[0], t.strides[1], t.strides[2]}};
}

// y[b, c, t] = 2 x[b, t, c] for t < lengths[b], else 0. Grid: (tiles of C, tiles of T, B); a block
// is kTile x (kTile / rows_per_thread) threads.
template <class T>
__global__ void transpose(Cube<const T> x, const std::int32_t* lengths, Cube<T> y,
                          std::int64_t times, std::int64_t cols) {
  __shared__ float tile[kTile][kTile + 1];
  const std::int64_t b = blockIdx.z;
  const std::int64_t t0 = static_cast<std::int64_t>(blockIdx.y) * kTile;
  const std::int64_t c0 = static_cast<std::int64_t>(blockIdx.x) * kTile;
  const std::int64_t valid = lengths[b];
  const int i = threadIdx.x;
  for (int j = threadIdx.y; j < kTile; j += blockDim.y) {
    const std::int64_t t = t0 + j, c = c0 + i;
    tile[j][i] = t < valid && c < cols ? 2 * static_cast<float>(x.at(b, t, c)) : 0.0f;
  }
  __syncthreads();
  for (int j = threadIdx.y; j < kTile; j += blockDim.y) {
    const std::int64_t c = c0 + j, t = t0 + i;
    if (c < cols && t < times) y.at(b, c, t) = static_cast<T>(tile[i][j]);
  }
}

struct OddShapes : Target {
  static TargetSpec spec() {
    TargetSpec s;
    s.name = "control.odd_shapes";
    s.doc = "Transposes the valid part of a padded ragged batch.";
    s.category = Category::twin;
    s.dims = {DimSpec::of("B", 0, 4, "batch"), DimSpec::of("T", 0, 80, "padded length", kTile),
              DimSpec::of("C", 0, 80, "columns", kTile)};
    const auto lengths = Fill::integers([](const Dims& d) { return Range{0, get(d, "T")}; });
    const auto dtype_of = [](const Config& c) {
      return get_str(c, "dtype") == "bf16" ? DType::bf16 : DType::f32;
    };
    s.tensors = {
        tensor("x", DType::f32, Role::in, shape_of({"B", "T", "C"}), {}, LayoutRules::strided()),
        tensor("lengths", DType::i32, Role::in, shape_of({"B"}), lengths),
        tensor("y", DType::f32, Role::out, shape_of({"B", "C", "T"}), {}, LayoutRules::strided())};
    s.tensors[0].dtype_of = s.tensors[2].dtype_of = dtype_of;
    s.knobs = {{"dtype", {"f32", "bf16"}, "element type of x and y"},
               {"rows_per_thread", {4, 1, 16}, "tile rows that one thread copies"}};
    s.has_reference = true;
    return s;
  }

  void run(Context& ctx) override {
    if (ctx.dim("B") == 0 || ctx.dim("T") == 0 || ctx.dim("C") == 0) return;
    if (ctx.knob_str("dtype") == "bf16")
      enqueue<bf16>(ctx);
    else
      enqueue<float>(ctx);
  }

  void reference(ReferenceCall& call) const override {
    const auto x = call.input("x"), lengths = call.input("lengths");
    const auto y = call.output("y");
    const std::int64_t times = call.dim("T"), cols = call.dim("C");
    for (std::int64_t b = 0; b < call.dim("B"); ++b)
      for (std::int64_t t = 0; t < lengths[b]; ++t)
        for (std::int64_t c = 0; c < cols; ++c)
          y[(b * cols + c) * times + t] = 2 * x[(b * times + t) * cols + c];
  }

 private:
  template <class T>
  static void enqueue(Context& ctx) {
    const std::int64_t batch = ctx.dim("B"), times = ctx.dim("T"), cols = ctx.dim("C");
    const LaunchShape shape{{ceil_div(cols, kTile), ceil_div(times, kTile), batch},
                            {kTile, kTile / ctx.knob("rows_per_thread")}};
    launch(ctx, "transpose", transpose<T>, shape, cube<const T>(ctx.tensor("x")),
           ctx.tensor("lengths").data<std::int32_t>(), cube<T>(ctx.tensor("y")), times, cols);
  }
};

}  // namespace odd_shapes

void add_odd_shapes(Registrar& registrar) {
  registrar.add<odd_shapes::OddShapes>();
}

}  // namespace redzone::puzzles

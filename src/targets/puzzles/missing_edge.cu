// puzzle: missing_edge
// bug: the stream that reads the row sums does not wait for the stream that makes them
// kin: producer and consumer streams without an event between them
// expect: order | async | schedule | uninitialized
// minimal: repros/missing_edge.toml
#include "kit.h"
#include "puzzles.h"

namespace redzone::puzzles {
namespace missing_edge {

__global__ void row_sums(const float* x, float* sums, std::int64_t rows, std::int64_t cols) {
  const std::int64_t r = global_thread();
  if (r >= rows) return;
  float sum = 0;
  for (std::int64_t c = 0; c < cols; ++c) sum += x[r * cols + c];
  sums[r] = sum;
}

__global__ void subtract(const float* x, const float* sums, float* y, std::int64_t rows,
                         std::int64_t cols) {
  const std::int64_t i = global_thread();
  if (i < rows * cols) y[i] = x[i] - sums[i / cols];
}

template <bool kFixed>
struct MissingEdge : Target {
  static TargetSpec spec() {
    auto s = pair_spec<kFixed>("missing_edge", "Subtracts from each row its sum, on two streams.");
    s.dims = {DimSpec::of("R", 1, 64, "rows"), DimSpec::of("C", 1, 128, "columns")};
    s.tensors = {tensor("x", DType::f32, Role::in, shape_of({"R", "C"}), integers(-4, 4)),
                 tensor("y", DType::f32, Role::out, shape_of({"R", "C"}))};
    s.side_streams = 1;
    return s;
  }

  void run(Context& ctx) override {
    const std::int64_t rows = ctx.dim("R"), cols = ctx.dim("C");
    auto* x = ctx.tensor("x").data<float>();
    void* sums = ctx.scratch("sums", rows * sizeof(float), sizeof(float));
    if (ctx.ended()) return;
    auto on_side = one_thread_each(rows * cols);
    on_side.stream = 1;
    launch(ctx, "row_sums", row_sums, one_thread_each(rows), x, static_cast<float*>(sums), rows,
           cols);
    if (kFixed) ctx.wait(1, 0);
    launch(ctx, "subtract", subtract, on_side, x, static_cast<const float*>(sums),
           ctx.tensor("y").data<float>(), rows, cols);
    ctx.wait(0, 1);
  }

  void reference(ReferenceCall& call) const override {
    const auto x = call.input("x");
    const auto y = call.output("y");
    const auto cols = static_cast<std::size_t>(call.dim("C"));
    for (std::size_t first = 0; first < x.size(); first += cols) {
      double sum = 0;
      for (std::size_t c = 0; c < cols; ++c) sum += x[first + c];
      for (std::size_t c = 0; c < cols; ++c) y[first + c] = x[first + c] - sum;
    }
  }
};

}  // namespace missing_edge

void add_missing_edge(Registrar& registrar) {
  add_pair<missing_edge::MissingEdge>(registrar);
}

}  // namespace redzone::puzzles

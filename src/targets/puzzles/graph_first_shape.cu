// puzzle: graph_first_shape
// bug: the graph captured in the first call is replayed for every later one, whatever its shape
// kin: CUDA graph wrappers whose key leaves out a dimension
// expect: history y
// minimal: 2 calls; N=1; N=2
// minimal: 2 calls; N=2; N=1
#include <map>

#include "kit.h"
#include "puzzles.h"

namespace redzone::puzzles {
namespace graph_first_shape {

constexpr std::int64_t kMost = 512;

__global__ void square(const float* x, float* y, std::int64_t n) {
  const std::int64_t i = global_thread();
  if (i < n) y[i] = x[i] * x[i];
}

template <bool kFixed>
struct GraphFirstShape : Target {
  static TargetSpec spec() {
    auto s = pair_spec<kFixed>("graph_first_shape", "y = x * x, by a graph on buffers of its own.");
    s.dims = {DimSpec::of("N", 1, kMost, "elements", kBlock)};
    s.tensors = {tensor("x", DType::f32, Role::in, shape_of({"N"})),
                 tensor("y", DType::f32, Role::out, shape_of({"N"}))};
    s.capturable = false;  // it captures graphs itself
    return s;
  }

  void run(Context& ctx) override {
    const std::int64_t n = ctx.dim("N");
    const std::size_t bytes = n * sizeof(float);
    auto* in = static_cast<float*>(ctx.workspace("in", kMost * sizeof(float), sizeof(float)));
    auto* out = static_cast<float*>(ctx.workspace("out", kMost * sizeof(float), sizeof(float)));
    if (ctx.ended()) return;
    const std::int64_t key = kFixed ? n : 0;
    auto graph = graphs_.find(key);
    if (graph == graphs_.end()) {
      ctx.begin_capture();
      launch(ctx, "square", square, one_thread_each(n), in, out, n);
      graph = graphs_.emplace(key, ctx.end_capture()).first;
    }
    ctx.copy(in, ctx.tensor("x").base, bytes);
    ctx.replay(graph->second);
    ctx.copy(ctx.tensor("y").base, out, bytes);
  }

  void reference(ReferenceCall& call) const override {
    const auto x = call.input("x");
    const auto y = call.output("y");
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[i] * x[i];
  }

 private:
  std::map<std::int64_t, GraphRef> graphs_;
};

}  // namespace graph_first_shape

void add_graph_first_shape(Registrar& registrar) {
  add_pair<graph_first_shape::GraphFirstShape>(registrar);
}

}  // namespace redzone::puzzles

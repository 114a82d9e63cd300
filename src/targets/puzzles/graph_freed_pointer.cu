// puzzle: graph_freed_pointer
// bug: a larger call frees the temporary of the smaller ones, which a captured graph still holds
// kin: workspaces that grow between the capture of a graph and its replay
// expect: use-after-free write staged
// minimal: repros/graph_freed_pointer.toml
#include "kit.h"
#include "puzzles.h"

namespace redzone::puzzles {
namespace graph_freed_pointer {

__global__ void add_one(const float* x, float* staged, std::int64_t n) {
  const std::int64_t i = global_thread();
  if (i < n) staged[i] = x[i] + 1;
}

__global__ void reverse(const float* staged, float* y, std::int64_t n) {
  const std::int64_t i = global_thread();
  if (i < n) y[i] = staged[n - 1 - i];
}

template <bool kFixed>
struct GraphFreedPointer : Target {
  static TargetSpec spec() {
    auto s = pair_spec<kFixed>("graph_freed_pointer", "Reverses x + 1 through a growing buffer.");
    s.dims = {DimSpec::of("N", 1, 512, "elements", kBlock)};
    s.tensors = {tensor("x", DType::f32, Role::in, shape_of({"N"})),
                 tensor("y", DType::f32, Role::out, shape_of({"N"}))};
    return s;
  }

  void run(Context& ctx) override {
    const std::int64_t n = ctx.dim("N");
    if (n > capacity_) {
      // A graph may still use the old pointer: the fixed variant keeps it until the end.
      if (!kFixed && staged_ != nullptr) ctx.free(staged_);
      staged_ = static_cast<float*>(ctx.allocate("staged", n * sizeof(float)));
      capacity_ = n;
    }
    if (ctx.ended()) return;
    launch(ctx, "add_one", add_one, one_thread_each(n), ctx.tensor("x").data<float>(), staged_, n);
    launch(ctx, "reverse", reverse, one_thread_each(n), staged_, ctx.tensor("y").data<float>(), n);
  }

  void reference(ReferenceCall& call) const override {
    const auto x = call.input("x");
    const auto y = call.output("y");
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[x.size() - 1 - i] + 1;
  }

 private:
  float* staged_ = nullptr;
  std::int64_t capacity_ = 0;
};

}  // namespace graph_freed_pointer

void add_graph_freed_pointer(Registrar& registrar) {
  add_pair<graph_freed_pointer::GraphFreedPointer>(registrar);
}

}  // namespace redzone::puzzles

// puzzle: graph_ended_thread
// bug: a host thread frees its workspace when it ends, and the graph that it captured still uses it
// kin: workspaces of a library that belong to a thread, and a thread that only captures
//      (pytorch/pytorch#192061)
// expect: use-after-free write staged
// minimal: repros/graph_ended_thread.toml
#include <memory>

#include "kit.h"
#include "puzzles.h"

namespace redzone::puzzles {
namespace graph_ended_thread {

constexpr std::int64_t kMost = 512;

__global__ void triple(const float* x, float* staged, std::int64_t n) {
  const std::int64_t i = global_thread();
  if (i < n) staged[i] = x[i] * 3;
}

__global__ void turn(const float* staged, float* y, std::int64_t n) {
  const std::int64_t i = global_thread();
  if (i < n) y[i] = staged[n - 1 - i];
}

// The context of a target's latest call; gone with the target, whose trial frees all memory.
using Latest = std::shared_ptr<Context*>;

// What one host thread keeps.
template <bool kFixed>
class Workspace {
 public:
  // A graph may still use it: the fixed variant keeps it until the end.
  ~Workspace() {
    if (kFixed) return;
    if (const Latest latest = latest_.lock()) (*latest)->free(staged_);
  }

  float* staged(Context& ctx, const Latest& latest) {
    if (latest_.lock() != latest) {
      latest_ = latest;
      staged_ = static_cast<float*>(ctx.allocate("staged", kMost * sizeof(float)));
    }
    return staged_;
  }

 private:
  std::weak_ptr<Context*> latest_;
  float* staged_ = nullptr;
};

template <bool kFixed>
struct GraphEndedThread : Target {
  static TargetSpec spec() {
    auto s =
        pair_spec<kFixed>("graph_ended_thread", "Reverses 3 x through a buffer of the thread.");
    s.dims = {DimSpec::of("N", 1, kMost, "elements", kBlock)};
    s.tensors = {tensor("x", DType::f32, Role::in, shape_of({"N"})),
                 tensor("y", DType::f32, Role::out, shape_of({"N"}))};
    return s;
  }

  void reference(ReferenceCall& call) const override {
    const auto x = call.input("x");
    const auto y = call.output("y");
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[x.size() - 1 - i] * 3;
  }

  void run(Context& ctx) override {
    thread_local Workspace<kFixed> workspace;
    const std::int64_t n = ctx.dim("N");
    *latest_ = &ctx;
    float* const staged = workspace.staged(ctx, latest_);
    if (ctx.ended()) return;
    const LaunchShape shape = one_thread_each(n);
    launch(ctx, "triple", triple, shape, ctx.tensor("x").data<float>(), staged, n);
    launch(ctx, "turn", turn, shape, staged, ctx.tensor("y").data<float>(), n);
  }

 private:
  Latest latest_ = std::make_shared<Context*>();
};

}  // namespace graph_ended_thread

void add_graph_ended_thread(Registrar& registrar) {
  add_pair<graph_ended_thread::GraphEndedThread>(registrar);
}

}  // namespace redzone::puzzles

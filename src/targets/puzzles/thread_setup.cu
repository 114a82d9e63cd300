// puzzle: thread_setup
// bug: the first call sets up the handle of its host thread, and other threads use one that is not
// kin: library handles that each thread has for itself, with a mode that is set once
// expect: host-thread y
// minimal: 2 calls, each; N=1; N=1
#include "kit.h"
#include "puzzles.h"

namespace redzone::puzzles {
namespace thread_setup {

__global__ void add(const float* x, float* y, std::int64_t n, float offset) {
  const std::int64_t i = global_thread();
  if (i < n) y[i] = x[i] + offset;
}

template <bool kFixed>
struct ThreadSetup : Target {
  static TargetSpec spec() {
    auto s = pair_spec<kFixed>("thread_setup", "y = x + 1, by a handle of the host thread.");
    s.dims = {DimSpec::of("N", 1, 512, "elements", kBlock)};
    s.tensors = {tensor("x", DType::f32, Role::in, shape_of({"N"})),
                 tensor("y", DType::f32, Role::out, shape_of({"N"}))};
    return s;
  }

  void run(Context& ctx) override {
    thread_local float offset_of_handle = 0;
    const std::int64_t n = ctx.dim("N");
    if (kFixed || !is_set_up_) offset_of_handle = 1;
    is_set_up_ = true;
    launch(ctx, "add", add, one_thread_each(n), ctx.tensor("x").data<float>(),
           ctx.tensor("y").data<float>(), n, offset_of_handle);
  }

  void reference(ReferenceCall& call) const override {
    const auto x = call.input("x");
    const auto y = call.output("y");
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[i] + 1;
  }

 private:
  bool is_set_up_ = false;
};

}  // namespace thread_setup

void add_thread_setup(Registrar& registrar) {
  add_pair<thread_setup::ThreadSetup>(registrar);
}

}  // namespace redzone::puzzles

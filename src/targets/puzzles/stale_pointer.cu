// puzzle: stale_pointer
// bug: the output pointer of the first call is kept and written by every later one
// kin: a captured graph replayed after its buffers were reallocated
// expect: uninitialized y
// minimal: 2 calls; N=1; N=1
// expect: illegal-access write after y
// minimal: 2 calls; N=1; N=2
// expect: redzone write before y
// minimal: 2 calls, reused; N=2; N=1
#include "kit.h"
#include "puzzles.h"

namespace redzone::puzzles {
namespace stale_pointer {

__global__ void shift(const float* x, float* y, std::int64_t n) {
  const std::int64_t i = global_thread();
  if (i < n) y[i] = x[i] + 1;
}

template <bool kFixed>
struct StalePointer : Target {
  static TargetSpec spec() {
    auto s = pair_spec<kFixed>("stale_pointer", "y = x + 1, with arguments kept between calls.");
    s.dims = {DimSpec::of("N", 0, 512, "elements", kBlock)};
    s.tensors = {tensor("x", DType::f32, Role::in, shape_of({"N"})),
                 tensor("y", DType::f32, Role::out, shape_of({"N"}))};
    return s;
  }

  void run(Context& ctx) override {
    const std::int64_t n = ctx.dim("N");
    if (n == 0) return;
    if (kFixed || y_ == nullptr) y_ = ctx.tensor("y").data<float>();
    launch(ctx, "shift", shift, one_thread_each(n), ctx.tensor("x").data<float>(), y_, n);
  }

  void reference(ReferenceCall& call) const override {
    const auto x = call.input("x");
    const auto y = call.output("y");
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[i] + 1;
  }

 private:
  float* y_ = nullptr;
};

}  // namespace stale_pointer

void add_stale_pointer(Registrar& registrar) {
  add_pair<stale_pointer::StalePointer>(registrar);
}

}  // namespace redzone::puzzles

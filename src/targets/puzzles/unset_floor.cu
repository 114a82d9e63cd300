// puzzle: unset_floor
// bug: a field of the parameters is set for large tensors only, so for others the kernel gets what
//      the stack of the host holds
// kin: parameter structs without initializers, filled branch by branch
// expect: uninitialized-local
// minimal: 1 call, filled; N=1
#include <algorithm>

#include "kit.h"
#include "puzzles.h"

namespace redzone::puzzles {
namespace unset_floor {

constexpr float kFloor = 0.25f;

struct Parameters {
  const float* x;
  float* y;
  std::int64_t n;
  float floor;  // of the outputs, if it is positive
};

__global__ void halve(Parameters p) {
  const std::int64_t i = global_thread();
  if (i >= p.n) return;
  const float half = p.x[i] / 2;
  p.y[i] = p.floor > 0 && half < p.floor ? p.floor : half;
}

template <bool kFixed>
struct UnsetFloor : Target {
  static TargetSpec spec() {
    auto s = pair_spec<kFixed>("unset_floor", "y = x / 2, at least 0.25 if there is much of it.");
    s.dims = {DimSpec::of("N", 1, 1024, "elements", kBlock)};
    s.tensors = {tensor("x", DType::f32, Role::in, shape_of({"N"})),
                 tensor("y", DType::f32, Role::out, shape_of({"N"}))};
    return s;
  }

  void run(Context& ctx) override {
    Parameters p;
    // For the compiler all fields are written, so that it does not make up a value.
    asm volatile("" : "=m"(p));
    p.n = ctx.dim("N");
    p.x = ctx.tensor("x").data<float>();
    p.y = ctx.tensor("y").data<float>();
    if (p.n > kBlock)
      p.floor = kFloor;
    else if (kFixed)
      p.floor = 0;
    launch(ctx, "halve", halve, one_thread_each(p.n), p);
  }

  void reference(ReferenceCall& call) const override {
    const auto x = call.input("x");
    const auto y = call.output("y");
    const double floor = x.size() > kBlock ? double{kFloor} : -1;
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = std::max(x[i] / 2, floor);
  }
};

}  // namespace unset_floor

void add_unset_floor(Registrar& registrar) {
  add_pair<unset_floor::UnsetFloor>(registrar);
}

}  // namespace redzone::puzzles

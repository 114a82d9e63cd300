// puzzle: vectors_by_input
// bug: vectors of four are copied where the input begins at a multiple of 16 bytes, wherever the
//      output begins
// kin: elementwise kernels that choose vector accesses by the base of one of their tensors
// expect: misaligned-access
// minimal: 1 call, mixed; N=4
#include <algorithm>

#include "kit.h"
#include "puzzles.h"

namespace redzone::puzzles {
namespace vectors_by_input {

constexpr std::int64_t kLanes = 4;

bool begins_with_vector(const TensorArg& t) {
  return reinterpret_cast<std::uintptr_t>(t.base) % sizeof(float4) == 0;
}

// One element, or one vector, for each thread.
template <class T>
__global__ void copy(const T* from, T* to, std::int64_t count) {
  const std::int64_t i = global_thread();
  if (i < count) to[i] = from[i];
}

template <class T>
void launch_copy(Context& ctx, const TensorArg& from, const TensorArg& to, std::int64_t count) {
  launch(ctx, "copy", copy<T>, one_thread_each(count), from.data<T>(), to.data<T>(), count);
}

template <bool kFixed>
struct VectorsByInput : Target {
  static TargetSpec spec() {
    auto s = pair_spec<kFixed>("vectors_by_input", "y = x, by vectors where x allows them.");
    s.dims = {DimSpec::of("N", 0, 2048, "elements", kBlock * kLanes)};
    s.tensors = {tensor("x", DType::f32, Role::in, shape_of({"N"})),
                 tensor("y", DType::f32, Role::out, shape_of({"N"}))};
    return s;
  }

  void run(Context& ctx) override {
    const std::int64_t n = ctx.dim("N");
    if (n == 0) return;
    const auto x = ctx.tensor("x"), y = ctx.tensor("y");
    const bool bases = begins_with_vector(x) && (!kFixed || begins_with_vector(y));
    if (bases && n % kLanes == 0)
      launch_copy<float4>(ctx, x, y, n / kLanes);
    else
      launch_copy<float>(ctx, x, y, n);
  }

  void reference(ReferenceCall& call) const override {
    const auto x = call.input("x");
    std::copy(x.begin(), x.end(), call.output("y").begin());
  }
};

}  // namespace vectors_by_input

void add_vectors_by_input(Registrar& registrar) {
  add_pair<vectors_by_input::VectorsByInput>(registrar);
}

}  // namespace redzone::puzzles

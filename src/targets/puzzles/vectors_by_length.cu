// puzzle: vectors_by_length
// bug: vectors of four are copied whenever the length is a multiple of four, wherever the tensors
//      begin
// kin: wrappers that choose vector loads by the size of a row and are given a slice
// expect: misaligned-access x
// minimal: 1 call, exact; N=4
// expect: misaligned-access y
// minimal: 1 call, mixed; N=4
#include "kit.h"
#include "puzzles.h"

namespace redzone::puzzles {
namespace vectors_by_length {

template <class T>
__global__ void copy_each(const T* x, T* y, std::int64_t n) {
  const std::int64_t i = global_thread();
  if (i < n) y[i] = x[i];
}

constexpr std::int64_t kLanes = 4;

bool is_aligned(const TensorArg& t) {
  return reinterpret_cast<std::uintptr_t>(t.base) % sizeof(float4) == 0;
}

template <bool kFixed>
struct VectorsByLength : Target {
  static TargetSpec spec() {
    auto s = pair_spec<kFixed>("vectors_by_length", "Copies a tensor, four elements at a time.");
    s.dims = {DimSpec::of("N", 0, 2048, "elements", kBlock * kLanes)};
    s.tensors = {tensor("x", DType::f32, Role::in, shape_of({"N"})),
                 tensor("y", DType::f32, Role::out, shape_of({"N"}))};
    return s;
  }

  void run(Context& ctx) override {
    const std::int64_t n = ctx.dim("N");
    if (n == 0) return;
    const auto x = ctx.tensor("x"), y = ctx.tensor("y");
    if (n % kLanes == 0 && (!kFixed || (is_aligned(x) && is_aligned(y))))
      launch(ctx, "copy_vectors", copy_each<float4>, one_thread_each(n / kLanes), x.data<float4>(),
             y.data<float4>(), n / kLanes);
    else
      launch(ctx, "copy_elements", copy_each<float>, one_thread_each(n), x.data<float>(),
             y.data<float>(), n);
  }

  void reference(ReferenceCall& call) const override {
    const auto x = call.input("x");
    const auto y = call.output("y");
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[i];
  }
};

}  // namespace vectors_by_length

void add_vectors_by_length(Registrar& registrar) {
  add_pair<vectors_by_length::VectorsByLength>(registrar);
}

}  // namespace redzone::puzzles

// A copy of N floats, by vectors of four where a puzzle decides so.
#pragma once

#include <algorithm>
#include <string>
#include <utility>

#include "kit.h"

namespace redzone::puzzles {

// One element, or one vector, for each thread.
template <class T>
__global__ void copy_each(const T* x, T* y, std::int64_t n) {
  const std::int64_t i = global_thread();
  if (i < n) y[i] = x[i];
}

inline bool begins_with_vector(const TensorArg& t) {
  return reinterpret_cast<std::uintptr_t>(t.base) % sizeof(float4) == 0;
}

class VectorCopy : public Target {
 public:
  void run(Context& ctx) override {
    const std::int64_t n = ctx.dim("N");
    if (n == 0) return;
    const auto x = ctx.tensor("x"), y = ctx.tensor("y");
    if (n % kLanes == 0 && may_use_vectors(x, y))
      launch(ctx, "copy_vectors", copy_each<float4>, one_thread_each(n / kLanes), x.data<float4>(),
             y.data<float4>(), n / kLanes);
    else
      launch(ctx, "copy_elements", copy_each<float>, one_thread_each(n), x.data<float>(),
             y.data<float>(), n);
  }

  void reference(ReferenceCall& call) const override {
    const auto x = call.input("x");
    std::copy(x.begin(), x.end(), call.output("y").begin());
  }

 protected:
  template <bool kFixed>
  static TargetSpec spec_of(const std::string& name, std::string doc) {
    auto s = pair_spec<kFixed>(name, std::move(doc));
    s.dims = {DimSpec::of("N", 0, 2048, "elements", kBlock * kLanes)};
    s.tensors = {tensor("x", DType::f32, Role::in, shape_of({"N"})),
                 tensor("y", DType::f32, Role::out, shape_of({"N"}))};
    return s;
  }

 private:
  static constexpr std::int64_t kLanes = 4;

  // Asked where N is a multiple of four.
  virtual bool may_use_vectors(const TensorArg& x, const TensorArg& y) const = 0;
};

}  // namespace redzone::puzzles

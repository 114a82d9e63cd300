// puzzle: shared_counter
// bug: calls on different streams count in one counter, which each of them resets when it is done
// kin: tickets and queue heads kept once a device rather than once a stream
// expect: order | async
// minimal: repros/shared_counter.toml
#include "kit.h"
#include "puzzles.h"

namespace redzone::puzzles {
namespace shared_counter {

__global__ void reset(std::int32_t* counter) {
  *counter = 0;
}

__global__ void count(const std::int32_t* x, std::int32_t* counter, std::int64_t n) {
  const std::int64_t i = global_thread();
  if (i < n && x[i] > 0) atomicAdd(counter, 1);
}

__global__ void emit(std::int32_t* counter, std::int32_t* y) {
  *y = *counter;
  *counter = 0;
}

template <bool kFixed>
struct SharedCounter : Target {
  static TargetSpec spec() {
    auto s = pair_spec<kFixed>("shared_counter", "Counts the positive elements of a vector.");
    s.dims = {DimSpec::of("N", 1, 2048, "elements", kBlock)};
    s.tensors = {tensor("x", DType::i32, Role::in, shape_of({"N"}), integers(-1, 8)),
                 tensor("y", DType::i32, Role::out, [](const Dims&) { return Shape{1}; })};
    s.concurrent_calls = true;
    return s;
  }

  void run(Context& ctx) override {
    const std::int64_t n = ctx.dim("N");
    constexpr std::size_t kBytes = sizeof(std::int32_t);
    auto* counter = static_cast<std::int32_t*>(kFixed ? ctx.scratch("counter", kBytes, kBytes)
                                                      : ctx.workspace("counter", kBytes, kBytes));
    if (ctx.ended()) return;
    if (kFixed) launch(ctx, "reset", reset, {}, counter);
    launch(ctx, "count", count, one_thread_each(n), ctx.tensor("x").data<std::int32_t>(), counter,
           n);
    launch(ctx, "emit", emit, {}, counter, ctx.tensor("y").data<std::int32_t>());
  }

  void reference(ReferenceCall& call) const override {
    for (double x : call.input("x")) call.output("y")[0] += x > 0;
  }
};

}  // namespace shared_counter

void add_shared_counter(Registrar& registrar) {
  add_pair<shared_counter::SharedCounter>(registrar);
}

}  // namespace redzone::puzzles

// puzzle: argument_block
// bug: the arguments are copied from one block of host memory, which the next call writes before
//      the copy has run
// kin: by-pointer argument blocks and descriptors in page-locked memory that is reused too soon
// expect: order | async | schedule
// minimal: repros/argument_block.toml
// minimal: 2 calls, async; N=1 scale=2; N=1 scale=3
#include <string>

#include "kit.h"
#include "puzzles.h"

namespace redzone::puzzles {
namespace argument_block {

struct Arguments {
  float scale;
};

__global__ void scale(const Arguments* arguments, const float* x, float* y, std::int64_t n) {
  const std::int64_t i = global_thread();
  if (i < n) y[i] = x[i] * arguments->scale;
}

template <bool kFixed>
struct ArgumentBlock : Target {
  static TargetSpec spec() {
    auto s = pair_spec<kFixed>("argument_block", "y = scale * x, with its arguments in memory.");
    s.dims = {DimSpec::of("N", 1, 512, "elements", kBlock)};
    s.tensors = {tensor("x", DType::f32, Role::in, shape_of({"N"})),
                 tensor("y", DType::f32, Role::out, shape_of({"N"}))};
    s.knobs = {{"scale", {2, 3}, "the factor"}};
    s.capturable = false;  // the host writes the arguments, which a replay does not repeat
    return s;
  }

  void run(Context& ctx) override {
    const std::int64_t n = ctx.dim("N");
    const std::string block = kFixed ? "arguments " + std::to_string(calls_++) : "arguments";
    auto* host = static_cast<Arguments*>(ctx.pinned_memory(block, sizeof(Arguments)));
    void* device = ctx.scratch("arguments", sizeof(Arguments), alignof(Arguments));
    if (ctx.ended()) return;
    *host = {static_cast<float>(ctx.knob("scale"))};
    ctx.copy(device, host, sizeof(Arguments));
    launch(ctx, "scale", scale, one_thread_each(n), static_cast<const Arguments*>(device),
           ctx.tensor("x").data<float>(), ctx.tensor("y").data<float>(), n);
  }

  void reference(ReferenceCall& call) const override {
    const auto x = call.input("x");
    const auto y = call.output("y");
    const auto factor = static_cast<double>(get_int(call.config(), "scale"));
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = factor * x[i];
  }

 private:
  std::int64_t calls_ = 0;
};

}  // namespace argument_block

void add_argument_block(Registrar& registrar) {
  add_pair<argument_block::ArgumentBlock>(registrar);
}

}  // namespace redzone::puzzles

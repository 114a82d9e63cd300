// A correct target whose author left print statements in: one at load time and one in a function of
// its spec.
#include <redzone/kernel.h>
#include <redzone/target.h>

#include <cstdio>
#include <iostream>
#include <memory>
#include <utility>

namespace {

__global__ void twice(const float* x, float* y, std::int64_t n) {
  for (std::int64_t i = threadIdx.x; i < n; i += blockDim.x) y[i] = 2 * x[i];
}

struct Twice : redzone::Target {
  static redzone::TargetSpec spec() {
    std::printf("chatty: spec\n");
    std::fflush(stdout);
    redzone::TargetSpec spec;
    spec.name = "chatty.twice";
    spec.dims = {{.name = "N", .min = 1, .max = 300}};
    spec.tensors = {{.name = "x", .shape = redzone::shape_of({"N"})},
                    {.name = "y", .role = redzone::Role::out, .shape = redzone::shape_of({"N"})}};
    spec.work = [](const redzone::Dims& dims, const redzone::Config&) {
      std::cout << "chatty: work" << std::endl;
      return static_cast<double>(redzone::get(dims, "N"));
    };
    return spec;
  }
  void run(redzone::Context& ctx) override {
    const auto x = ctx.tensor("x");
    redzone::launch(ctx, "twice", twice, {{1}, {64}}, x.data<float>(),
                    ctx.tensor("y").data<float>(), x.numel());
  }
};

}  // namespace

REDZONE_PLUGIN(registrar) {
  registrar.add<Twice>();
}

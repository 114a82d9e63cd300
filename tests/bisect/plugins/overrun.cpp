// Two builds of one target: with OVERRUN the kernel writes one element past the end.
#include <redzone/kernel.h>
#include <redzone/target.h>

namespace {

__global__ void copy(const float* x, float* y, std::int64_t n) {
  for (std::int64_t i = threadIdx.x; i < n; i += blockDim.x) y[i] = x[i < n - OVERRUN ? i : 0];
}

struct Copy : redzone::Target {
  static redzone::TargetSpec spec() {
    redzone::TargetSpec spec;
    spec.name = "sample.overrun";
    spec.doc = "Copies.";
    spec.dims = {{.name = "N", .min = 1, .max = 512}};
    spec.tensors = {{.name = "x", .shape = redzone::shape_of({"N"})},
                    {.name = "y", .role = redzone::Role::out, .shape = redzone::shape_of({"N"})}};
    return spec;
  }
  void run(redzone::Context& ctx) override {
    redzone::launch(ctx, "copy", copy, {{1}, {32}}, ctx.tensor("x").data<float>(),
                    ctx.tensor("y").data<float>(), ctx.dim("N") + OVERRUN);
  }
};

}  // namespace

REDZONE_PLUGIN(registrar) {
  registrar.add<Copy>();
}

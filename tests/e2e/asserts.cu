// A target that aborts the process on shapes that it rejects, like a library with assertions.
#include <redzone/kernel.h>
#include <redzone/target.h>

#include <cstdio>
#include <cstdlib>

namespace {

__global__ void copy(const float* x, float* y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = x[i];
}

struct Asserts : redzone::Target {
  static redzone::TargetSpec spec() {
    redzone::TargetSpec spec;
    spec.name = "planted.asserts";
    spec.doc = "Copies x, unless its length is a multiple of 64.";
    spec.dims = {{.name = "N", .min = 1, .max = 512, .tile = 64}};
    spec.tensors = {{.name = "x", .shape = redzone::shape_of({"N"})},
                    {.name = "y", .role = redzone::Role::out, .shape = redzone::shape_of({"N"})}};
    return spec;
  }

  void run(redzone::Context& ctx) override {
    const std::int64_t n = ctx.dim("N");
    if (n % 64 == 0) {
      std::fputs("asserts.cu: n % 64 != 0 does not hold\n", stderr);
      std::abort();
    }
    redzone::launch(ctx, "copy", copy, {}, ctx.tensor("x").data<float>(),
                    ctx.tensor("y").data<float>(), n);
  }
};

}  // namespace

REDZONE_PLUGIN(registrar) {
  registrar.add<Asserts>();
}

// A plugin of another project whose builds differ: with GAINS_A_BUG the kernel writes one element
// past the end if N is no multiple of 4. Its other target is correct in both builds.
#include <redzone/kernel.h>
#include <redzone/target.h>

namespace {

__global__ void doubled(const float* x, std::int64_t n, float* y) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
#ifdef GAINS_A_BUG
  if (i < (n + 3) / 4 * 4) y[i] = i < n ? 2 * x[i] : 0;
#else
  if (i < n) y[i] = 2 * x[i];
#endif
}

struct Doubled : redzone::Target {
  static redzone::TargetSpec spec() {
    redzone::TargetSpec spec;
    spec.name = "gains.doubled";
    spec.doc = "Twice x.";
    spec.dims = {{.name = "N", .min = 1, .max = 512, .tile = 4}};
    // Not less, so that the write stays in front of the guard page.
    constexpr std::size_t kAlign = 16;
    spec.tensors = {{.name = "x", .shape = redzone::shape_of({"N"}), .align_bytes = kAlign},
                    {.name = "y",
                     .role = redzone::Role::out,
                     .shape = redzone::shape_of({"N"}),
                     .align_bytes = kAlign}};
    spec.has_reference = true;
    return spec;
  }

  void run(redzone::Context& ctx) override {
    const std::int64_t n = ctx.dim("N");
    redzone::launch(ctx, "doubled", doubled, {{(n + 31) / 32}, {32}}, ctx.tensor("x").data<float>(),
                    n, ctx.tensor("y").data<float>());
  }

  void reference(redzone::ReferenceCall& call) const override {
    const auto x = call.input("x");
    const auto y = call.output("y");
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = 2 * x[i];
  }
};

}  // namespace

REDZONE_PLUGIN(registrar) {
  registrar.add<Doubled>();
}

// The targets of the selftest plugin without their bugs: they look like what a blind harness would
// see. PLANTED_TARGETS: their names, quoted, with commas between them.
#include <redzone/kernel.h>
#include <redzone/target.h>

namespace {

__global__ void fill(float* y, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) y[i] = 1.0f;
}

struct Harmless : redzone::Target {
  static redzone::TargetSpec spec_of(std::string name) {
    redzone::TargetSpec s;
    s.name = "selftest." + std::move(name);
    s.doc = "y = 1";
    s.category = redzone::Category::selftest;
    s.dims = {{.name = "N", .min = 4, .max = 4096, .multiple_of = 4}};
    s.tensors = {{.name = "y", .role = redzone::Role::out, .shape = redzone::shape_of({"N"})}};
    return s;
  }
  void run(redzone::Context& ctx) override {
    const auto n = ctx.dim("N");
    redzone::launch(ctx, "fill", fill, {{n / 128 + 1}, {128}}, ctx.tensor("y").data<float>(),
                    static_cast<int>(n));
  }
};

}  // namespace

REDZONE_PLUGIN(registrar) {
  for (const char* name : {PLANTED_TARGETS})
    registrar.add(Harmless::spec_of(name), [] { return std::make_unique<Harmless>(); });
}

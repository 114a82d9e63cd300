// A write past the end of its output, planted for `redzone doctor`: a harness that does not catch
// it on a device must not be trusted there. Never part of a campaign.
#include <redzone/kernel.h>
#include <redzone/target.h>

namespace {

__global__ void fill_one_too_many(float* y, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i <= n) y[i] = 1.0f;
}

struct WritePastEnd : redzone::Target {
  static redzone::TargetSpec spec() {
    redzone::TargetSpec s;
    s.name = "selftest.write_past_end";
    s.doc = "writes y[N]";
    s.category = redzone::Category::selftest;
    s.dims = {{.name = "N", .min = 4, .max = 4096, .multiple_of = 4}};
    s.tensors = {{.name = "y", .role = redzone::Role::out, .shape = redzone::shape_of({"N"})}};
    return s;
  }

  void run(redzone::Context& ctx) override {
    const auto n = ctx.dim("N");
    redzone::launch(ctx, "fill_one_too_many", fill_one_too_many, {{n / 128 + 1}, {128}},
                    ctx.tensor("y").data<float>(), static_cast<int>(n));
  }
};

}  // namespace

REDZONE_PLUGIN(registrar) {
  registrar.add<WritePastEnd>();
}

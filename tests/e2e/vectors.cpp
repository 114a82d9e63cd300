// A correct kernel that sums by vectors where its input is aligned for them, so that the bits of
// the sum depend on the alignment. One target says so in its spec, the other does not.
#include <redzone/kernel.h>
#include <redzone/target.h>

#include <cstdint>

namespace {

__global__ void sum(const float* x, std::int64_t n, float* y) {
  constexpr std::int64_t kWidth = 4;
  const bool aligned = reinterpret_cast<std::uintptr_t>(x) % (kWidth * sizeof(float)) == 0;
  const std::int64_t width = aligned ? kWidth : 1;
  float parts[kWidth] = {};
  for (std::int64_t i = 0; i < n; ++i) parts[i % width] += x[i];
  *y = (parts[0] + parts[1]) + (parts[2] + parts[3]);
}

struct Sum : redzone::Target {
  static redzone::TargetSpec spec_of(const char* name, bool alignment_changes_bits) {
    redzone::TargetSpec spec;
    spec.name = name;
    spec.doc = "y = the sum of x";
    spec.dims = {{.name = "N", .min = 1, .max = 4096}};
    spec.tensors = {redzone::TensorSpec::of("x", redzone::DType::f32, redzone::Role::in,
                                            redzone::shape_of({"N"})),
                    {.name = "y", .role = redzone::Role::out, .shape = redzone::shape_of({})}};
    spec.tolerance = {.abs = 1e-2, .rel = 0};
    spec.has_reference = true;
    spec.alignment_changes_bits = alignment_changes_bits;
    return spec;
  }

  void run(redzone::Context& ctx) override {
    redzone::launch(ctx, "sum", sum, {{1}, {1}}, ctx.tensor("x").data<float>(), ctx.dim("N"),
                    ctx.tensor("y").data<float>());
  }

  void reference(redzone::ReferenceCall& call) const override {
    double total = 0;
    for (const double x : call.input("x")) total += x;
    call.output("y")[0] = total;
  }
};

}  // namespace

REDZONE_PLUGIN(registrar) {
  for (const bool declared : {true, false}) {
    const char* name = declared ? "vectors.declared" : "vectors.undeclared";
    registrar.add(Sum::spec_of(name, declared), [] { return std::make_unique<Sum>(); });
  }
}

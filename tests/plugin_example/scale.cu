// An example plugin, as it would stand in a project of its own: y = a * x, by rows.
//
// For the host device:
//   g++ -std=c++20 -O2 -shared -fPIC -fvisibility=hidden -I build/include -x c++ scale.cu
//       -o scale.host.so
// For CUDA:
//   nvcc -std=c++20 -O2 -shared -Xcompiler=-fPIC,-fvisibility=hidden -I build/include scale.cu
//       -o scale.cuda.so
#include <redzone/kernel.h>
#include <redzone/target.h>

namespace {

constexpr int kBlock = 64;

// One block a row.
__global__ void scale(const float* x, std::int64_t x_pitch, float* y, std::int64_t y_pitch,
                      int columns, float a) {
  for (int c = static_cast<int>(threadIdx.x); c < columns; c += static_cast<int>(blockDim.x))
    y[blockIdx.x * y_pitch + c] = a * x[blockIdx.x * x_pitch + c];
}

struct Scale : redzone::Target {
  static redzone::TargetSpec spec() {
    redzone::TargetSpec spec;
    spec.name = "example.scale";
    spec.doc = "Multiplies by a constant.";
    spec.dims = {{.name = "R", .min = 0, .max = 512},
                 {.name = "C", .min = 1, .max = 2048, .tile = kBlock}};
    // Row padding and slices, but the innermost dim must be dense.
    const redzone::LayoutRules layouts = {.row_padding = true, .offset = true};
    spec.tensors = {{.name = "x", .shape = redzone::shape_of({"R", "C"}), .layouts = layouts},
                    {.name = "y",
                     .role = redzone::Role::out,
                     .shape = redzone::shape_of({"R", "C"}),
                     .layouts = layouts}};
    spec.knobs = {{.name = "a", .values = {2, 3}}};
    spec.has_reference = true;
    return spec;
  }

  void run(redzone::Context& ctx) override {
    const auto x = ctx.tensor("x"), y = ctx.tensor("y");
    if (ctx.dim("R") == 0) return;  // an empty grid is no launch
    redzone::launch(ctx, "scale", scale, {{ctx.dim("R")}, {kBlock}}, x.data<float>(), x.strides[0],
                    y.data<float>(), y.strides[0], ctx.dim("C"), ctx.knob("a"));
  }

  void reference(redzone::ReferenceCall& call) const override {
    const auto x = call.input("x");
    const auto y = call.output("y");
    const auto a = static_cast<double>(redzone::get_int(call.config(), "a"));
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = a * x[i];
  }
};

}  // namespace

REDZONE_PLUGIN(registrar) {
  registrar.add<Scale>();
}

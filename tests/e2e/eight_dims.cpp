// Two targets with 8 dims each, few of which their planted bugs need; a reducer must remove the
// rest. When they fail, both write one element past the end of y.
#include <redzone/kernel.h>
#include <redzone/target.h>

#include <set>
#include <string>
#include <utility>

namespace {

using redzone::Constraint;
using redzone::Context;
using redzone::TargetSpec;

__global__ void row_sums(const float* x, float* y, std::int64_t rows, std::int64_t width,
                         std::int64_t written) {
  for (std::int64_t i = threadIdx.x; i < written; i += blockDim.x) {
    float sum = 0;
    for (std::int64_t j = 0; i < rows && j < width; ++j) sum += x[i * width + j];
    y[i] = sum;
  }
}

TargetSpec eight_dims(std::string name, std::string doc) {
  TargetSpec spec;
  spec.name = std::move(name);
  spec.doc = std::move(doc);
  spec.dims = {{.name = "B", .min = 1, .max = 8},
               {.name = "H", .min = 1, .max = 32},
               {.name = "T", .min = 1, .max = 4096, .tile = 64},
               {.name = "D", .min = 1, .max = 128, .tile = 32},
               {.name = "C", .values = {16, 32, 64, 128}},
               {.name = "M", .min = 1, .max = 64},
               {.name = "R", .min = 1, .max = 32},
               {.name = "S", .min = 1, .max = 1024}};
  spec.constraints = {Constraint::divides("R", "H"), Constraint::at_most("M", "S")};
  spec.tensors = {{.name = "x", .shape = redzone::shape_of({"T", "D"})},
                  {.name = "y",
                   .role = redzone::Role::out,
                   .shape = redzone::shape_of({"T"}),
                   .align_bytes = 4}};
  spec.knobs = {{.name = "num_warps", .values = {4, 8}}, {.name = "stages", .values = {2, 3, 4}}};
  return spec;
}

void run_call(Context& ctx, bool wrong) {
  const std::int64_t rows = ctx.dim("T");
  redzone::launch(ctx, "row_sums", row_sums, {{1}, {32}}, ctx.tensor("x").data<float>(),
                  ctx.tensor("y").data<float>(), rows, ctx.dim("D"), rows + (wrong ? 1 : 0));
}

// Compiled for the C of the first call; wrong behind its first tile when called with a smaller C.
struct FrozenChunk : redzone::Target {
  static TargetSpec spec() {
    return eight_dims("eight.frozen_chunk", "Sums rows, compiled for the first C.");
  }
  void run(Context& ctx) override {
    if (compiled_for_ == 0) compiled_for_ = ctx.dim("C");
    run_call(ctx, ctx.dim("C") < compiled_for_ && ctx.dim("T") > 64);
  }

 private:
  std::int64_t compiled_for_ = 0;
};

// Keeps four compiled variants, by D. A fifth one replaces none of them, and calls are wrong from
// then on.
struct FourSlots : redzone::Target {
  static TargetSpec spec() {
    return eight_dims("eight.four_slots", "Sums rows with one of four compiled variants.");
  }
  void run(Context& ctx) override {
    variants_.insert(ctx.dim("D"));
    run_call(ctx, variants_.size() > 4);
  }

 private:
  std::set<std::int64_t> variants_;
};

}  // namespace

REDZONE_PLUGIN(registrar) {
  registrar.add<FrozenChunk>();
  registrar.add<FourSlots>();
}

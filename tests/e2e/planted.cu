// A plugin of another project with a bug that no shipped puzzle has: the wrapper keeps the size of
// its scratch from the call that compiled it, and that size was the share of one CTA.
#include <redzone/kernel.h>
#include <redzone/target.h>

namespace {

constexpr int kBlock = 32;

// One partial sum per block.
__global__ void partial_sums(const float* x, std::int64_t n, float* partial, float* y) {
  if (threadIdx.x != 0) return;
  float sum = 0;
  for (std::int64_t i = blockIdx.x * kBlock; i < n && i < (blockIdx.x + 1) * kBlock; ++i)
    sum += x[i];
  partial[blockIdx.x] = sum;
  y[blockIdx.x] = partial[blockIdx.x];
}

struct BlockSums : redzone::Target {
  static redzone::TargetSpec spec() {
    redzone::TargetSpec spec;
    spec.name = "planted.block_sums";
    spec.doc = "Sums of 32 elements each, through a scratch buffer.";
    spec.dims = {{.name = "N", .min = 1, .max = 2048, .tile = kBlock}};
    spec.tensors = {{.name = "x", .shape = redzone::shape_of({"N"})},
                    {.name = "y", .role = redzone::Role::out, .shape = [](const redzone::Dims& d) {
                       return redzone::Shape{(redzone::get(d, "N") + kBlock - 1) / kBlock};
                     }}};
    return spec;
  }

  void run(redzone::Context& ctx) override {
    const std::int64_t n = ctx.dim("N");
    const std::int64_t blocks = (n + kBlock - 1) / kBlock;
    if (scratch_bytes_ == 0) scratch_bytes_ = static_cast<std::size_t>(blocks) * sizeof(float);
    auto* partial = static_cast<float*>(ctx.scratch("partial", scratch_bytes_, sizeof(float)));
    if (partial == nullptr) return;
    redzone::launch(ctx, "partial_sums", partial_sums, {{blocks}, {kBlock}},
                    ctx.tensor("x").data<float>(), n, partial, ctx.tensor("y").data<float>());
  }

 private:
  std::size_t scratch_bytes_ = 0;
};

}  // namespace

REDZONE_PLUGIN(registrar) {
  registrar.add<BlockSums>();
}

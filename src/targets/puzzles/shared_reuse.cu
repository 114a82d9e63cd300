// puzzle: shared_reuse
// bug: a block's second reduction overwrites sums of the first that slower warps have yet to read
// kin: layer norms whose two reductions (mean, variance) share one array, with no barrier between
// expect: schedule | nondeterministic | history | reference y
// minimal: 1 call; C=33 R=1
#include <cmath>

#include "kit.h"
#include "puzzles.h"

namespace redzone::puzzles {
namespace shared_reuse {

constexpr unsigned kThreads = 64, kWarps = kThreads / 32;
// Of a thread: two reductions, each of them twice over a warp.
constexpr double kShuffles = 20;

__device__ inline std::int32_t warp_sum(std::int32_t v) {
  for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(0xffffffffu, v, step);
  return v;
}

// The sum over the threads of the block. `sums` has an element for each warp.
template <bool kFixed>
__device__ std::int32_t block_sum(std::int32_t v, std::int32_t* sums) {
  const unsigned lane = threadIdx.x % 32;
  v = warp_sum(v);
  if (kFixed) __syncthreads();
  if (lane == 0) sums[threadIdx.x / 32] = v;
  __syncthreads();
  return warp_sum(lane < kWarps ? sums[lane] : 0);
}

// y = x * sum(|x|) - sum(x) of each row, one block each.
template <bool kFixed>
__global__ void normalize(const std::int32_t* x, std::int32_t* y, std::int64_t cols) {
  __shared__ std::int32_t sums[kWarps];
  const std::int32_t* row = x + blockIdx.x * cols;
  std::int32_t sum = 0, size = 0;
  for (std::int64_t c = threadIdx.x; c < cols; c += kThreads) {
    sum += row[c];
    size += row[c] < 0 ? -row[c] : row[c];
  }
  sum = block_sum<kFixed>(sum, sums);
  size = block_sum<kFixed>(size, sums);
  for (std::int64_t c = threadIdx.x; c < cols; c += kThreads)
    y[blockIdx.x * cols + c] = row[c] * size - sum;
}

template <bool kFixed>
struct SharedReuse : Target {
  static TargetSpec spec() {
    auto s = pair_spec<kFixed>("shared_reuse", "Scales each row by sums over the row.");
    s.dims = {DimSpec::of("R", 1, 16, "rows"), DimSpec::of("C", 1, 1024, "columns", kThreads)};
    s.tensors = {tensor("x", DType::i32, Role::in, shape_of({"R", "C"}), integers(-1000, 1000)),
                 tensor("y", DType::i32, Role::out, shape_of({"R", "C"}))};
    s.work = [](const Dims& dims, const Config&) {
      const auto rows = static_cast<double>(get(dims, "R")),
                 cols = static_cast<double>(get(dims, "C"));
      return rows * (cols + kThreads * kShuffles);
    };
    return s;
  }

  void run(Context& ctx) override {
    launch(ctx, "normalize", normalize<kFixed>, {{ctx.dim("R")}, {kThreads}},
           ctx.tensor("x").data<std::int32_t>(), ctx.tensor("y").data<std::int32_t>(),
           ctx.dim("C"));
  }

  void reference(ReferenceCall& call) const override {
    const std::int64_t rows = call.dim("R"), cols = call.dim("C");
    for (std::int64_t r = 0; r < rows; ++r) {
      const auto x = call.input("x").subspan(static_cast<std::size_t>(r * cols),
                                             static_cast<std::size_t>(cols));
      double sum = 0, size = 0;
      for (const double value : x) {
        sum += value;
        size += std::abs(value);
      }
      double* y = call.output("y").data() + r * cols;
      for (const double value : x) *y++ = value * size - sum;
    }
  }
};

}  // namespace shared_reuse

void add_shared_reuse(Registrar& registrar) {
  add_pair<shared_reuse::SharedReuse>(registrar);
}

}  // namespace redzone::puzzles

// puzzle: shared_race
// bug: the block reads its tile of shared memory back without a barrier behind the stores
// kin: a __syncthreads lost in a refactoring, which one warp's lockstep hides
// expect: schedule | nondeterministic | history | reference y
// minimal: 1 call; N=2
#include <algorithm>

#include "kit.h"
#include "puzzles.h"

namespace redzone::puzzles {
namespace shared_race {

constexpr std::int64_t kTile = 256;

// Each tile of x in reverse.
template <bool kFixed>
__global__ void reverse_tiles(const std::int32_t* x, std::int32_t* y, std::int64_t n) {
  __shared__ std::int32_t tile[kTile];
  const std::int64_t first = blockIdx.x * kTile;
  const std::int64_t count = n - first < kTile ? n - first : kTile;
  const std::int64_t i = threadIdx.x;
  if (i < count) tile[i] = x[first + i];
  if (kFixed) __syncthreads();
  if (i < count) y[first + i] = tile[count - 1 - i];
}

template <bool kFixed>
struct SharedRace : Target {
  static TargetSpec spec() {
    auto s = pair_spec<kFixed>("shared_race", "Reverses each tile of x through shared memory.");
    s.dims = {DimSpec::of("N", 1, 4096, "elements", kTile)};
    s.tensors = {tensor("x", DType::i32, Role::in, shape_of({"N"}), integers(-1000, 1000)),
                 tensor("y", DType::i32, Role::out, shape_of({"N"}))};
    return s;
  }

  void run(Context& ctx) override {
    const std::int64_t n = ctx.dim("N");
    launch(ctx, "reverse_tiles", reverse_tiles<kFixed>, one_thread_each(n, kTile),
           ctx.tensor("x").data<std::int32_t>(), ctx.tensor("y").data<std::int32_t>(), n);
  }

  void reference(ReferenceCall& call) const override {
    const auto x = call.input("x");
    const auto y = call.output("y");
    const auto n = static_cast<std::int64_t>(x.size());
    for (std::int64_t first = 0; first < n; first += kTile) {
      const std::int64_t count = std::min(kTile, n - first);
      for (std::int64_t i = 0; i < count; ++i) y[first + i] = x[first + count - 1 - i];
    }
  }
};

}  // namespace shared_race

void add_shared_race(Registrar& registrar) {
  add_pair<shared_race::SharedRace>(registrar);
}

}  // namespace redzone::puzzles

// puzzle: global_race
// bug: the blocks that share a row add to it without an atomic, so that an addition can be lost
// kin: split-k epilogues that accumulate with plain loads and stores
// expect: schedule | nondeterministic | reference y
// minimal: 1 call; C=33 R=1
#include "kit.h"
#include "puzzles.h"

namespace redzone::puzzles {
namespace global_race {

constexpr std::int64_t kPart = 32;  // columns of one block

__global__ void clear(std::int32_t* y, std::int64_t rows) {
  const std::int64_t r = global_thread();
  if (r < rows) y[r] = 0;
}

// y[r] += the sum of `kPart` columns of row r: one block of one thread for each part.
template <bool kFixed>
__global__ void add_part(const std::int32_t* x, std::int32_t* y, std::int64_t cols) {
  const std::int64_t r = blockIdx.y, first = blockIdx.x * kPart;
  const std::int64_t last = first + kPart < cols ? first + kPart : cols;
  if (kFixed) {
    std::int32_t sum = 0;
    for (std::int64_t c = first; c < last; ++c) sum += x[r * cols + c];
    atomicAdd(&y[r], sum);
  } else {
    std::int32_t sum = *const_cast<volatile std::int32_t*>(&y[r]);
    for (std::int64_t c = first; c < last; ++c) sum += x[r * cols + c];
    __threadfence();
    y[r] = sum;
  }
}

template <bool kFixed>
struct GlobalRace : Target {
  static TargetSpec spec() {
    auto s = pair_spec<kFixed>("global_race", "Row sums, each row by several blocks.");
    s.dims = {DimSpec::of("R", 1, 16, "rows"), DimSpec::of("C", 1, 512, "columns", kPart)};
    s.tensors = {tensor("x", DType::i32, Role::in, shape_of({"R", "C"}), integers(-1000, 1000)),
                 tensor("y", DType::i32, Role::out, shape_of({"R"}))};
    return s;
  }

  void run(Context& ctx) override {
    const std::int64_t rows = ctx.dim("R"), cols = ctx.dim("C");
    auto* y = ctx.tensor("y").data<std::int32_t>();
    launch(ctx, "clear", clear, one_thread_each(rows), y, rows);
    launch(ctx, "add_part", add_part<kFixed>, {{ceil_div(cols, kPart), rows}, {1}},
           ctx.tensor("x").data<std::int32_t>(), y, cols);
  }

  void reference(ReferenceCall& call) const override {
    const auto x = call.input("x");
    const auto y = call.output("y");
    const std::size_t cols = x.size() / y.size();
    for (std::size_t i = 0; i < x.size(); ++i) y[i / cols] += x[i];
  }
};

}  // namespace global_race

void add_global_race(Registrar& registrar) {
  add_pair<global_race::GlobalRace>(registrar);
}

}  // namespace redzone::puzzles

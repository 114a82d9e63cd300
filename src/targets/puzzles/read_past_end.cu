// puzzle: read_past_end
// bug: the length is rounded wrongly to whole groups of four: when N % 4 == 3 the last group reads
//      the element after the end
// kin: flashinfer-ai/flashinfer#4237
// expect: illegal-access read after x
// minimal: 1 call; N=3
#include "kit.h"
#include "puzzles.h"

namespace redzone::puzzles {
namespace read_past_end {

// y[g] is the sum of group g of four elements; the last group may be shorter.
template <bool kFixed>
__global__ void group_sums(const float* x, float* y, std::int64_t n) {
  const std::int64_t first = 4 * global_thread();
  if (first >= n) return;
  const std::int64_t whole = (kFixed ? n : n + 1) / 4 * 4;
  float sum = 0;
  if (first + 4 <= whole) {
    sum = x[first] + x[first + 1] + x[first + 2] + x[first + 3];
  } else {
    for (std::int64_t i = first; i < n; ++i) sum += x[i];
  }
  y[first / 4] = sum;
}

template <bool kFixed>
struct ReadPastEnd : Target {
  static TargetSpec spec() {
    auto s = pair_spec<kFixed>("read_past_end", "Sums groups of four elements.");
    s.dims = {DimSpec::of("N", 0, 2048, "elements", 4 * kBlock)};
    s.tensors = {tensor("x", DType::f32, Role::in, shape_of({"N"})),
                 tensor("y", DType::f32, Role::out,
                        [](const Dims& d) { return Shape{ceil_div(get(d, "N"), 4)}; })};
    return s;
  }

  void run(Context& ctx) override {
    const std::int64_t n = ctx.dim("N");
    if (n == 0) return;
    launch(ctx, "group_sums", group_sums<kFixed>, one_thread_each(ceil_div(n, 4)),
           ctx.tensor("x").data<float>(), ctx.tensor("y").data<float>(), n);
  }

  void reference(ReferenceCall& call) const override {
    const auto x = call.input("x");
    const auto y = call.output("y");
    for (std::size_t i = 0; i < x.size(); ++i) y[i / 4] += x[i];
  }
};

}  // namespace read_past_end

void add_read_past_end(Registrar& registrar) {
  add_pair<read_past_end::ReadPastEnd>(registrar);
}

}  // namespace redzone::puzzles

// puzzle: pair_read
// bug: elements are read two at a time; the last pair of an odd length reads the element after the
//      end, which 16 bytes of alignment hide, and uses nothing of it
// kin: kernels that are masked where they write and not where they read
// expect: illegal-access read after x
// minimal: 1 call, element; N=1
#include "kit.h"
#include "puzzles.h"

namespace redzone::puzzles {
namespace pair_read {

// y[p] is the sum of pair p; the last one may be a single element.
template <bool kFixed>
__global__ void pair_sums(const std::int64_t* x, std::int64_t* y, std::int64_t n) {
  const std::int64_t first = 2 * global_thread();
  if (first >= n) return;
  const std::int64_t is_whole = first + 1 < n, second = kFixed ? first + is_whole : first + 1;
  y[first / 2] = x[first] + (x[second] & -is_whole);
}

template <bool kFixed>
struct PairRead : Target {
  static TargetSpec spec() {
    auto s = pair_spec<kFixed>("pair_read", "Sums pairs of neighbours.");
    s.dims = {DimSpec::of("N", 0, 2048, "elements", 2 * kBlock)};
    s.tensors = {tensor("x", DType::i64, Role::in, shape_of({"N"}), integers(-1000, 1000)),
                 tensor("y", DType::i64, Role::out,
                        [](const Dims& d) { return Shape{ceil_div(get(d, "N"), 2)}; })};
    s.tensors[0].align_bytes = 0;  // as specs are that do not say it
    return s;
  }

  void run(Context& ctx) override {
    const std::int64_t n = ctx.dim("N");
    if (n == 0) return;
    launch(ctx, "pair_sums", pair_sums<kFixed>, one_thread_each(ceil_div(n, 2)),
           ctx.tensor("x").data<std::int64_t>(), ctx.tensor("y").data<std::int64_t>(), n);
  }

  void reference(ReferenceCall& call) const override {
    const auto x = call.input("x");
    const auto y = call.output("y");
    for (std::size_t i = 0; i < x.size(); ++i) y[i / 2] += x[i];
  }
};

}  // namespace pair_read

void add_pair_read(Registrar& registrar) {
  add_pair<pair_read::PairRead>(registrar);
}

}  // namespace redzone::puzzles

// puzzle: float8_tail
// bug: 8-bit floats are written four at a time, and the last N % 4 are left out
// kin: packed conversions to fp8, whose kernels store a word of four
// expect: uninitialized y
// minimal: 1 call; N=1
#include "kit.h"
#include "puzzles.h"

namespace redzone::puzzles {
namespace float8_tail {

constexpr std::uint32_t kSigns = 0x80808080u;
constexpr std::int64_t kPerWord = 4;

// y = -x: the sign is the highest bit of each.
__global__ void negate_words(const std::uint32_t* x, std::uint32_t* y, std::int64_t words) {
  const std::int64_t i = global_thread();
  if (i < words) y[i] = x[i] ^ kSigns;
}

__global__ void negate_bytes(const std::uint8_t* x, std::uint8_t* y, std::int64_t first,
                             std::int64_t n) {
  const std::int64_t i = first + global_thread();
  if (i < n) y[i] = static_cast<std::uint8_t>(x[i] ^ kSigns);
}

template <bool kFixed>
struct Float8Tail : Target {
  static TargetSpec spec() {
    auto s = pair_spec<kFixed>("float8_tail", "Negates 8-bit floats, four in each word.");
    s.dims = {DimSpec::of("N", 0, 1024, "elements", kBlock * kPerWord)};
    s.tensors = {tensor("x", DType::f8e4m3, Role::in, shape_of({"N"}), Fill::uniform(-500, 500)),
                 tensor("y", DType::f8e4m3, Role::out, shape_of({"N"}))};
    for (auto& t : s.tensors) t.align_bytes = sizeof(std::uint32_t);
    return s;
  }

  void run(Context& ctx) override {
    const std::int64_t n = ctx.dim("N"), words = n / kPerWord;
    const auto x = ctx.tensor("x"), y = ctx.tensor("y");
    if (words > 0)
      launch(ctx, "negate_words", negate_words, one_thread_each(words), x.data<std::uint32_t>(),
             y.data<std::uint32_t>(), words);
    if (kFixed && n % kPerWord != 0)
      launch(ctx, "negate_bytes", negate_bytes, one_thread_each(n % kPerWord),
             x.data<std::uint8_t>(), y.data<std::uint8_t>(), words * kPerWord, n);
  }

  void reference(ReferenceCall& call) const override {
    const auto x = call.input("x");
    const auto y = call.output("y");
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = -x[i];
  }
};

}  // namespace float8_tail

void add_float8_tail(Registrar& registrar) {
  add_pair<float8_tail::Float8Tail>(registrar);
}

}  // namespace redzone::puzzles

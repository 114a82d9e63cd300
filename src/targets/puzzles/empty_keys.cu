// puzzle: empty_keys
// bug: the softmax of a sequence without keys divides 0 by 0
// kin: variable-length attention with an empty key cache (chunked prefill, padded batches)
// expect: reference o
// minimal: 1 call; B=1 N=0
#include <algorithm>
#include <cmath>
#include <vector>

#include "kit.h"
#include "puzzles.h"

namespace redzone::puzzles {
namespace empty_keys {

constexpr int kWidth = 8;

// One query for each sequence, which sees all of its keys: o[b] = softmax(q[b] k^T) v. A sequence
// without keys gives 0.
template <bool kFixed>
__global__ void decode(const int* offsets, const float* q, const float* k, const float* v,
                       float* o) {
  const int b = static_cast<int>(blockIdx.x), d = static_cast<int>(threadIdx.x);
  float largest = -INFINITY, total = 0, sum = 0;
  for (int j = offsets[b]; j < offsets[b + 1]; ++j) {
    float score = 0;
    for (int c = 0; c < kWidth; ++c) score += q[b * kWidth + c] * k[j * kWidth + c];
    const float now = fmaxf(largest, score);
    const float factor = expf(largest - now), weight = expf(score - now);
    largest = now;
    total = total * factor + weight;
    sum = sum * factor + weight * v[j * kWidth + d];
  }
  o[b * kWidth + d] = kFixed && total == 0 ? 0 : sum / total;
}

template <bool kFixed>
struct EmptyKeys : Target {
  static TargetSpec spec() {
    auto s = pair_spec<kFixed>("empty_keys", "One step of attention over a ragged batch of keys.");
    s.dims = {DimSpec::of("B", 1, 16, "sequences"),
              DimSpec::of("N", 0, 128, "keys of all sequences")};
    const auto rows = [](const char* tokens) {
      return [tokens](const Dims& d) { return Shape{get(d, tokens), kWidth}; };
    };
    const auto bounds = Fill::offsets([](const Dims& d) { return get(d, "N"); });
    s.tensors = {tensor(
                     "offsets", DType::i32, Role::in,
                     [](const Dims& d) { return Shape{get(d, "B") + 1}; }, bounds),
                 tensor("q", DType::f32, Role::in, rows("B")),
                 tensor("k", DType::f32, Role::in, rows("N")),
                 tensor("v", DType::f32, Role::in, rows("N")),
                 tensor("o", DType::f32, Role::out, rows("B"))};
    s.tolerance = {1e-4, 1e-4};
    return s;
  }

  void run(Context& ctx) override {
    launch(ctx, "decode", decode<kFixed>, {{ctx.dim("B")}, {kWidth}},
           ctx.tensor("offsets").data<const int>(), ctx.tensor("q").data<float>(),
           ctx.tensor("k").data<float>(), ctx.tensor("v").data<float>(),
           ctx.tensor("o").data<float>());
  }

  void reference(ReferenceCall& call) const override {
    const auto offsets = call.input("offsets");
    const auto q = call.input("q"), k = call.input("k"), v = call.input("v");
    const auto o = call.output("o");
    for (std::size_t b = 0; b + 1 < offsets.size(); ++b) {
      const auto begin = static_cast<std::size_t>(offsets[b]);
      const auto end = static_cast<std::size_t>(offsets[b + 1]);
      std::vector<double> weights;
      double total = 0;
      for (std::size_t j = begin; j < end; ++j) {
        double score = 0;
        for (std::size_t c = 0; c < kWidth; ++c) score += q[b * kWidth + c] * k[j * kWidth + c];
        weights.push_back(std::exp(score));
        total += weights.back();
      }
      for (std::size_t j = begin; j < end; ++j)
        for (std::size_t d = 0; d < kWidth; ++d)
          o[b * kWidth + d] += weights[j - begin] / total * v[j * kWidth + d];
    }
  }
};

}  // namespace empty_keys

void add_empty_keys(Registrar& registrar) {
  add_pair<empty_keys::EmptyKeys>(registrar);
}

}  // namespace redzone::puzzles

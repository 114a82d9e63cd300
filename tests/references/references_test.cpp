#include "references/references.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace redzone::references {
namespace {

class Tensors final : public ReferenceCall {
 public:
  Tensors(Dims dims, std::map<std::string, std::vector<double>, std::less<>> tensors)
      : dims_(std::move(dims)), tensors_(std::move(tensors)) {}

  const Dims& dims() const override { return dims_; }
  const Config& config() const override { return config_; }
  std::span<const double> input(std::string_view name) const override {
    return tensors_.find(name)->second;
  }
  std::span<double> output(std::string_view name) override { return tensors_.find(name)->second; }

  const std::vector<double>& operator[](std::string_view name) const {
    return tensors_.find(name)->second;
  }

 private:
  Dims dims_;
  Config config_;
  std::map<std::string, std::vector<double>, std::less<>> tensors_;
};

void run(const char* name, Tensors& call, const Numbers& numbers = {}) {
  const Reference* reference = find(name);
  ASSERT_NE(reference, nullptr);
  reference->run(call, numbers);
}

TEST(References, AreFoundByTheNamesOfTheShippedPackages) {
  for (const char* name : {"scale", "matmul", "attention", "chunk_fwd_h", "chunk_fwd_phase1",
                           "chunk_bwd_dh", "chunk_bwd_dh_correction"})
    EXPECT_NE(find(name), nullptr) << name;
  EXPECT_EQ(find("softmax"), nullptr);
  EXPECT_EQ(names().size(), 7u);
}

TEST(Scale, MultipliesByTheFactor) {
  Tensors call({}, {{"x", {1, -2, 0.5}}, {"y", {9, 9, 9}}});
  run("scale", call, {{"factor", 1.5}});
  EXPECT_EQ(call["y"], (std::vector<double>{1.5, -3, 0.75}));
}

TEST(Matmul, MultipliesRowsByColumns) {
  Tensors call({{"M", 2}, {"N", 1}, {"K", 3}},
               {{"a", {1, 2, 3, 4, 5, 6}}, {"b", {1, 10, 100}}, {"c", {7, 7}}});
  run("matmul", call);
  EXPECT_EQ(call["c"], (std::vector<double>{321, 654}));
}

TEST(Matmul, IsTheSumOfProductsForEachElement) {
  for (const std::int64_t N : {1, 2, 3, 8, 9, 33}) {
    constexpr std::int64_t M = 3, K = 7;
    std::vector<double> a, b;
    for (std::int64_t i = 0; i < M * K; ++i) a.push_back(std::sin(static_cast<double>(i + 1)));
    for (std::int64_t i = 0; i < K * N; ++i) b.push_back(std::cos(static_cast<double>(3 * i + 1)));
    Tensors call(
        {{"M", M}, {"N", N}, {"K", K}},
        {{"a", a}, {"b", b}, {"c", std::vector<double>(static_cast<std::size_t>(M * N), 7)}});
    run("matmul", call);
    for (std::int64_t i = 0; i < M; ++i)
      for (std::int64_t j = 0; j < N; ++j) {
        double sum = 0;
        for (std::int64_t k = 0; k < K; ++k)
          sum += a[static_cast<std::size_t>(i * K + k)] * b[static_cast<std::size_t>(k * N + j)];
        ASSERT_NEAR(call["c"][static_cast<std::size_t>(i * N + j)], sum, 1e-13)
            << "N = " << N << ": " << i << " " << j;
      }
  }
}

TEST(Matmul, RefusesTensorsOfAnotherSize) {
  Tensors call({{"M", 2}, {"N", 1}, {"K", 3}}, {{"a", {1}}, {"b", {1, 1, 1}}, {"c", {0, 0}}});
  EXPECT_THROW(find("matmul")->run(call, {}), std::invalid_argument);
}

Tensors attention_call(std::int64_t HQ, std::int64_t HKV, std::int64_t S, std::int64_t D) {
  const auto draw = [](std::int64_t count, double step) {
    std::vector<double> out(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = std::sin(step * static_cast<double>(i + 1));
    return out;
  };
  return Tensors({{"B", 1}, {"S", S}, {"HQ", HQ}, {"HKV", HKV}, {"D", D}},
                 {{"q", draw(HQ * S * D, 0.7)},
                  {"k", draw(HKV * S * D, 1.3)},
                  {"v", draw(HKV * S * D, 0.3)},
                  {"o", std::vector<double>(static_cast<std::size_t>(HQ * S * D), 5.0)}});
}

TEST(Attention, OfOneKeyIsItsValue) {
  Tensors call = attention_call(4, 2, 1, 3);
  run("attention", call, {{"causal", 0}});
  for (std::size_t h = 0; h < 4; ++h)
    for (std::size_t d = 0; d < 3; ++d)
      EXPECT_DOUBLE_EQ(call["o"][h * 3 + d], call["v"][h / 2 * 3 + d]) << h << " " << d;
}

TEST(Attention, WeighsTwoKeysByTheirScores) {
  Tensors call({{"B", 1}, {"S", 2}, {"HQ", 1}, {"HKV", 1}, {"D", 4}},
               {{"q", {1, 0, 0, 0, 0, 2, 0, 0}},
                {"k", {4, 0, 0, 0, 0, 6, 0, 0}},
                {"v", {1, 0, 0, 0, 0, 1, 0, 0}},
                {"o", std::vector<double>(8)}});
  run("attention", call, {{"causal", 0}});
  // Scores over sqrt(4): 2 and 0 for the first row, 0 and 6 for the second.
  const double first = std::exp(2) / (std::exp(2) + 1), second = 1 / (1 + std::exp(6));
  EXPECT_NEAR(call["o"][0], first, 1e-15);
  EXPECT_NEAR(call["o"][1], 1 - first, 1e-15);
  EXPECT_NEAR(call["o"][4], second, 1e-15);
  EXPECT_NEAR(call["o"][5], 1 - second, 1e-15);
  run("attention", call, {{"causal", 1}});
  EXPECT_EQ(call["o"][0], 1) << "the first row sees its own column only";
  EXPECT_EQ(call["o"][1], 0);
  EXPECT_NEAR(call["o"][4], second, 1e-15);
}

// softmax(q k^T / sqrt(D)) v, one element at a time.
double attended(const Tensors& call, std::int64_t head, std::int64_t row, std::int64_t column,
                bool causal) {
  const std::int64_t S = call.dims().find("S")->second, D = call.dims().find("D")->second;
  const std::int64_t group = call.dims().find("HQ")->second / call.dims().find("HKV")->second;
  const auto at = [&](const char* name, std::int64_t h, std::int64_t s, std::int64_t d) {
    return call[name][static_cast<std::size_t>((h * S + s) * D + d)];
  };
  double above = 0, below = 0;
  for (std::int64_t j = 0; j < (causal ? row + 1 : S); ++j) {
    double score = 0;
    for (std::int64_t d = 0; d < D; ++d)
      score += at("q", head, row, d) * at("k", head / group, j, d);
    const double weight = std::exp(score / std::sqrt(static_cast<double>(D)));
    above += weight * at("v", head / group, j, column);
    below += weight;
  }
  return above / below;
}

TEST(Attention, IsThatOfTheFormula) {
  // Lengths around four, since four keys are scored at a time.
  for (const std::int64_t S : {1, 2, 3, 4, 5, 7, 8, 9, 17})
    for (const std::int64_t D : {1, 2, 5, 16})
      for (const bool causal : {false, true}) {
        Tensors call = attention_call(4, 2, S, D);
        run("attention", call, {{"causal", causal ? 1.0 : 0.0}});
        for (std::int64_t h = 0; h < 4; ++h)
          for (std::int64_t i = 0; i < S; ++i)
            for (std::int64_t d = 0; d < D; ++d)
              ASSERT_NEAR(call["o"][static_cast<std::size_t>((h * S + i) * D + d)],
                          attended(call, h, i, d, causal), 1e-13)
                  << "S = " << S << ", D = " << D << ", causal " << causal << ": " << h << " " << i
                  << " " << d;
      }
}

TEST(Attention, OfCausalRowsDoesNotReadWhatFollows) {
  Tensors short_call = attention_call(1, 1, 5, 2);
  Tensors long_call = attention_call(1, 1, 9, 2);  // begins with the same tokens
  run("attention", short_call, {{"causal", 1}});
  run("attention", long_call, {{"causal", 1}});
  for (std::size_t i = 0; i < 10; ++i) EXPECT_DOUBLE_EQ(short_call["o"][i], long_call["o"][i]) << i;
}

TEST(Attention, DoesNotOverflow) {
  Tensors call = attention_call(1, 1, 2, 1);
  auto k = call.output("k");
  std::fill(k.begin(), k.end(), 1e5);
  auto q = call.output("q");
  std::fill(q.begin(), q.end(), 1.0);
  run("attention", call, {{"causal", 0}});
  EXPECT_NEAR(call["o"][0], (call["v"][0] + call["v"][1]) / 2, 1e-12);
}

}  // namespace
}  // namespace redzone::references

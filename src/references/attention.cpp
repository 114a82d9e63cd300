#include <algorithm>
#include <cmath>
#include <vector>

#include "references/check.h"
#include "references/references.h"

namespace redzone::references {
namespace {

// One head: its queries, and its keys and values, each [S, D].
struct Head {
  std::span<const double> q, k, v;
  std::span<double> o;
  std::size_t rows, width;
  bool causal;
};

// Scores of query row i with the first keys, one key for each element of `scores`. Four keys at a
// time, because the additions of one sum depend on each other; the order of each sum is unchanged.
void score(const Head& head, std::size_t i, double scale, std::span<double> scores) {
  const double* const q = head.q.data() + i * head.width;
  std::size_t j = 0;
  for (; j + 4 <= scores.size(); j += 4) {
    const double* const k = head.k.data() + j * head.width;
    double sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0;
    for (std::size_t d = 0; d < head.width; ++d) {
      sum0 += q[d] * k[d];
      sum1 += q[d] * k[head.width + d];
      sum2 += q[d] * k[2 * head.width + d];
      sum3 += q[d] * k[3 * head.width + d];
    }
    scores[j] = scale * sum0;
    scores[j + 1] = scale * sum1;
    scores[j + 2] = scale * sum2;
    scores[j + 3] = scale * sum3;
  }
  for (; j < scores.size(); ++j) {
    const double* const k = head.k.data() + j * head.width;
    double sum = 0;
    for (std::size_t d = 0; d < head.width; ++d) sum += q[d] * k[d];
    scores[j] = scale * sum;
  }
}

void attend(const Head& head, std::vector<double>& weights) {
  const double scale = 1 / std::sqrt(static_cast<double>(head.width));
  for (std::size_t i = 0; i < head.rows; ++i) {
    weights.resize(head.causal ? i + 1 : head.rows);
    score(head, i, scale, weights);
    // Subtracting the largest score leaves softmax unchanged and prevents overflow.
    const double largest = *std::max_element(weights.begin(), weights.end());
    double total = 0;
    for (double& w : weights) total += w = std::exp(w - largest);
    double* const out = head.o.data() + i * head.width;
    std::fill_n(out, head.width, 0.0);
    for (std::size_t j = 0; j < weights.size(); ++j) {
      const double weight = weights[j] / total;
      const double* const value = head.v.data() + j * head.width;
      for (std::size_t d = 0; d < head.width; ++d) out[d] += weight * value[d];
    }
  }
}

}  // namespace

void attention(ReferenceCall& call, const Numbers& numbers) {
  const std::int64_t B = call.dim("B"), S = call.dim("S"), D = call.dim("D");
  const std::int64_t HQ = call.dim("HQ"), HKV = call.dim("HKV");
  const auto q = call.input("q");
  const auto k = call.input("k");
  const auto v = call.input("v");
  const auto o = call.output("o");
  check_size("q", q.size(), {B, HQ, S, D});
  check_size("k", k.size(), {B, HKV, S, D});
  check_size("v", v.size(), {B, HKV, S, D});
  check_size("o", o.size(), {B, HQ, S, D});
  if (HKV < 1 || HQ % HKV != 0) throw std::invalid_argument("HQ is not a multiple of HKV");
  const auto size = static_cast<std::size_t>(S * D);
  const auto head_of = [&](auto span, std::int64_t head) {
    return span.subspan(static_cast<std::size_t>(head) * size, size);
  };
  std::vector<double> weights;
  for (std::int64_t b = 0; b < B; ++b)
    for (std::int64_t h = 0; h < HQ; ++h) {
      const std::int64_t query = b * HQ + h;
      const std::int64_t key = b * HKV + h / (HQ / HKV);
      attend({head_of(q, query), head_of(k, key), head_of(v, key), head_of(o, query),
              static_cast<std::size_t>(S), static_cast<std::size_t>(D), numbers.at("causal") != 0},
             weights);
    }
}

}  // namespace redzone::references

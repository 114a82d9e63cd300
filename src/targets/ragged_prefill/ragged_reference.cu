#include <algorithm>
#include <cmath>
#include <vector>

#include "ragged_reference.h"

namespace redzone::ragged {
namespace {

struct Extents {
  std::int64_t heads, group, width;
};

// Computes `weights`, one for each key from `first` on, for one row of queries.
void weigh(std::span<const double> q, std::span<const double> k, const Extents& e,
           std::int64_t key_head, std::int64_t first, std::span<double> weights) {
  const auto width = static_cast<std::size_t>(e.width);
  const auto stride = static_cast<std::size_t>(e.heads / e.group) * width;
  const double* key = k.data() + static_cast<std::size_t>(first) * stride +
                      static_cast<std::size_t>(key_head) * width;
  const double root = std::sqrt(static_cast<double>(e.width));
  std::size_t j = 0;
  // Four independent sums at a time hide the latency of additions; the order within each sum stays.
  for (; j + 4 <= weights.size(); j += 4, key += 4 * stride) {
    double sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0;
    for (std::size_t d = 0; d < width; ++d) {
      sum0 += q[d] * key[d];
      sum1 += q[d] * key[stride + d];
      sum2 += q[d] * key[2 * stride + d];
      sum3 += q[d] * key[3 * stride + d];
    }
    weights[j] = sum0 / root;
    weights[j + 1] = sum1 / root;
    weights[j + 2] = sum2 / root;
    weights[j + 3] = sum3 / root;
  }
  for (; j < weights.size(); ++j, key += stride) {
    double sum = 0;
    for (std::size_t d = 0; d < width; ++d) sum += q[d] * key[d];
    weights[j] = sum / root;
  }
  const double largest = *std::max_element(weights.begin(), weights.end());
  double total = 0;
  for (double& w : weights) total += w = std::exp(w - largest);
  for (double& w : weights) w /= total;
}

}  // namespace

void reference_attention(ReferenceCall& call, std::span<const double> q_offsets,
                         std::span<const double> k_offsets, std::int64_t width) {
  const Extents e{call.dim("HQ"), call.dim("HQ") / call.dim("HK"), width};
  const std::int64_t key_heads = call.dim("HK");
  const bool causal = get_int(call.config(), "causal") != 0;
  const auto q = call.input("q"), k = call.input("k"), v = call.input("v");
  const auto o = call.output("o");
  std::vector<double> weights;
  for (std::int64_t b = 0; b < call.dim("B"); ++b) {
    const auto at = static_cast<std::size_t>(b);
    const auto begin = static_cast<std::int64_t>(q_offsets[at]);
    const auto queries = static_cast<std::int64_t>(q_offsets[at + 1]) - begin;
    const auto first = static_cast<std::int64_t>(k_offsets[at]);
    const auto keys = static_cast<std::int64_t>(k_offsets[at + 1]) - first;
    for (std::int64_t i = 0; i < queries * e.heads; ++i) {
      const std::int64_t row = i / e.heads, head = i % e.heads, key_head = head / e.group;
      const auto visible =
          causal ? std::clamp<std::int64_t>(row + 1 + keys - queries, 0, keys) : keys;
      if (visible == 0) continue;  // outputs are zeros
      const auto index = static_cast<std::size_t>(((begin + row) * e.heads + head) * e.width);
      weights.resize(static_cast<std::size_t>(visible));
      weigh(q.subspan(index, static_cast<std::size_t>(e.width)), k, e, key_head, first, weights);
      const std::span<double> out = o.subspan(index, static_cast<std::size_t>(e.width));
      for (std::int64_t j = 0; j < visible; ++j) {
        const double weight = weights[static_cast<std::size_t>(j)];
        const auto value = v.subspan(
            static_cast<std::size_t>(((first + j) * key_heads + key_head) * e.width), out.size());
        for (std::size_t d = 0; d < out.size(); ++d) out[d] += weight * value[d];
      }
    }
  }
}

}  // namespace redzone::ragged

#include <algorithm>
#include <cmath>
#include <vector>

#include "ragged_reference.h"

namespace redzone::ragged {
namespace {

struct Extents {
  std::int64_t heads, group, width;
};

// The weights of `visible` keys from `first` on for one row of queries.
std::vector<double> weights_of(std::span<const double> q, std::span<const double> k,
                               const Extents& e, std::int64_t key_head, std::int64_t first,
                               std::int64_t visible) {
  const std::int64_t key_heads = e.heads / e.group;
  std::vector<double> weights(static_cast<std::size_t>(visible));
  for (std::int64_t j = 0; j < visible; ++j) {
    const auto key = static_cast<std::size_t>(((first + j) * key_heads + key_head) * e.width);
    double sum = 0;
    for (std::size_t d = 0; d < q.size(); ++d) sum += q[d] * k[key + d];
    weights[static_cast<std::size_t>(j)] = sum / std::sqrt(static_cast<double>(e.width));
  }
  const double largest = *std::max_element(weights.begin(), weights.end());
  double total = 0;
  for (double& w : weights) total += w = std::exp(w - largest);
  for (double& w : weights) w /= total;
  return weights;
}

}  // namespace

void reference_attention(ReferenceCall& call, std::span<const double> q_offsets,
                         std::span<const double> k_offsets, std::int64_t width) {
  const Extents e{call.dim("HQ"), call.dim("HQ") / call.dim("HK"), width};
  const std::int64_t key_heads = call.dim("HK");
  const bool causal = get_int(call.config(), "causal") != 0;
  const auto q = call.input("q"), k = call.input("k"), v = call.input("v");
  const auto o = call.output("o");
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
      const auto weights = weights_of(q.subspan(index, static_cast<std::size_t>(e.width)), k, e,
                                      key_head, first, visible);
      for (std::int64_t j = 0; j < visible; ++j) {
        const auto value = static_cast<std::size_t>(((first + j) * key_heads + key_head) * e.width);
        for (std::size_t d = 0; d < static_cast<std::size_t>(e.width); ++d)
          o[index + d] += weights[static_cast<std::size_t>(j)] * v[value + d];
      }
    }
  }
}

}  // namespace redzone::ragged

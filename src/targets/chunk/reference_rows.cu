// Rows of states, each as a sum over the tokens of its sequence. With log decays of at most 0 the
// sum ends where a token would count for less than 1e-30 of itself.
#include <algorithm>
#include <cmath>

#include "reference.h"

namespace redzone::chunk {
namespace {

constexpr double kNothing = -70;  // of the logarithm of a decay
constexpr std::int64_t kTokensAtOnce = 64;

// Row `d` of a state of one sequence, as a sum of exp(decays) x_t[d] y_t.
class RowSum {
 public:
  RowSum(SampledCall& call, const char* x, const char* y, std::int64_t sequence, std::int64_t d,
         std::span<double> row)
      : call_(call),
        x_(x),
        y_(y),
        first_token_(sequence * call.dim("T")),
        d_(d),
        row_(row),
        g_(call.input("g", sequence, 1)) {}

  // Tokens [begin, end) as the state after them sees them: a token decays by all behind it. Returns
  // the logarithm of the decay of what was before `begin`.
  double add_seen_from_end(std::int64_t begin, std::int64_t end) {
    double log_decay = 0;
    while (end > begin && log_decay > kNothing) {
      const std::int64_t from = std::max(begin, end - kTokensAtOnce);
      const auto ys = call_.input(y_, first_token_ + from, end - from);
      for (std::int64_t t = end; t-- > from;) {
        add(t, std::exp(log_decay), ys, t - from);
        log_decay += g_[static_cast<std::size_t>(t)];
      }
      end = from;
    }
    return log_decay;
  }

  // Tokens [begin, end) as the state before them sees them: a token decays by itself and by all
  // before it.
  void add_seen_from_begin(std::int64_t begin, std::int64_t end) {
    double log_decay = 0;
    while (begin < end && log_decay > kNothing) {
      const std::int64_t to = std::min(end, begin + kTokensAtOnce);
      const auto ys = call_.input(y_, first_token_ + begin, to - begin);
      for (std::int64_t t = begin; t < to; ++t) {
        log_decay += g_[static_cast<std::size_t>(t)];
        add(t, std::exp(log_decay), ys, t - begin);
      }
      begin = to;
    }
  }

 private:
  void add(std::int64_t t, double decay, std::span<const double> ys, std::int64_t y_row) {
    const double factor = decay * call_.input_at(x_, first_token_ + t, d_);
    const auto y = ys.subspan(static_cast<std::size_t>(y_row) * row_.size(), row_.size());
    for (std::size_t e = 0; e < row_.size(); ++e) row_[e] += factor * y[e];
  }

  SampledCall& call_;
  const char* x_;
  const char* y_;
  std::int64_t first_token_, d_;
  std::span<double> row_;
  std::span<const double> g_;
};

// A row of a tensor [sequences, N, D, DV], or of one [sequences, D, DV] with `chunks` 1.
struct StateRow {
  std::int64_t sequence, chunk, d;
};

// Calls make(StateRow, row to fill) for each row that is asked for.
template <class Make>
void for_each_row(SampledCall& call, const char* output, std::int64_t chunks, Make make) {
  const auto rows = call.rows(output);
  const std::int64_t d = call.dim("D");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::int64_t state = rows[i] / d;
    make(StateRow{state / chunks, state % chunks, rows[i] % d}, call.output(output, i));
  }
}

std::int64_t chunks_of(const SampledCall& call) {
  return call.dim("T") / call.dim("C");
}

}  // namespace

void reference_rows_fwd_h(SampledCall& call) {
  const std::int64_t c = call.dim("C");
  const auto state_before = [&](std::int64_t sequence, std::int64_t d, std::int64_t token,
                                std::span<double> row) {
    const double log_decay = RowSum(call, "k", "v", sequence, d, row).add_seen_from_end(0, token);
    const auto h0 = call.input("h0", sequence * call.dim("D") + d, 1);
    for (std::size_t e = 0; e < row.size(); ++e) row[e] += std::exp(log_decay) * h0[e];
  };
  for_each_row(call, "h", chunks_of(call), [&](const StateRow& at, std::span<double> row) {
    state_before(at.sequence, at.d, at.chunk * c, row);
  });
  for_each_row(call, "ht", 1, [&](const StateRow& at, std::span<double> row) {
    state_before(at.sequence, at.d, call.dim("T"), row);
  });
}

void reference_rows_fwd_phase1(SampledCall& call) {
  const std::int64_t c = call.dim("C");
  for_each_row(call, "s", chunks_of(call), [&](const StateRow& at, std::span<double> row) {
    RowSum(call, "k", "v", at.sequence, at.d, row)
        .add_seen_from_end(at.chunk * c, (at.chunk + 1) * c);
  });
}

void reference_rows_bwd_dh(SampledCall& call) {
  const std::int64_t c = call.dim("C");
  for_each_row(call, "dh", chunks_of(call), [&](const StateRow& at, std::span<double> row) {
    RowSum(call, "q", "do", at.sequence, at.d, row)
        .add_seen_from_begin((at.chunk + 1) * c, call.dim("T"));
  });
  for_each_row(call, "dh0", 1, [&](const StateRow& at, std::span<double> row) {
    RowSum(call, "q", "do", at.sequence, at.d, row).add_seen_from_begin(0, call.dim("T"));
  });
}

void reference_rows_bwd_dh_correction(SampledCall& call) {
  const std::int64_t n = chunks_of(call), d = call.dim("D"), c = call.dim("C");
  for_each_row(call, "dh", n, [&](const StateRow& at, std::span<double> row) {
    const auto g = call.input("g", at.sequence, 1);
    double log_decay = 0;
    for (std::int64_t t = (at.chunk + 1) * c; t < call.dim("T"); ++t)
      log_decay += g[static_cast<std::size_t>(t)];
    const auto local = call.input("local", (at.sequence * n + at.chunk) * d + at.d, 1);
    const auto dht = call.input("dht", at.sequence * d + at.d, 1);
    for (std::size_t e = 0; e < row.size(); ++e) row[e] = local[e] + std::exp(log_decay) * dht[e];
  });
}

}  // namespace redzone::chunk

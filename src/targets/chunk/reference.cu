#include "reference.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace redzone::chunk {
namespace {

// The state of one sequence.
class State {
 public:
  State(const ScanReference& r, std::int64_t sequence)
      : r_(r), e_(r.extents), sequence_(sequence), values_(static_cast<std::size_t>(e_.D * e_.DV)) {
    if (r.initial.empty()) return;
    const auto from = r.initial.subspan(static_cast<std::size_t>(sequence) * values_.size());
    std::copy_n(from.begin(), values_.size(), values_.begin());
  }

  void clear() { std::fill(values_.begin(), values_.end(), 0.0); }

  // S <- exp(g_t) S + x_t^T y_t
  void decay_and_add(std::int64_t t) {
    const double factor = decay(t);
    for_each(t, [&](double value, double product) { return value * factor + product; });
  }

  // S <- exp(g_t) (S + x_t^T y_t)
  void add_and_decay(std::int64_t t) {
    const double factor = decay(t);
    for_each(t, [&](double value, double product) { return (value + product) * factor; });
  }

  // To position `index` of a tensor of states of this size.
  void copy_to(std::span<double> tensor, std::int64_t index) const {
    const auto at =
        static_cast<std::ptrdiff_t>(index) * static_cast<std::ptrdiff_t>(values_.size());
    std::copy(values_.begin(), values_.end(), tensor.begin() + at);
  }

 private:
  double decay(std::int64_t t) const {
    return std::exp(r_.g[static_cast<std::size_t>(sequence_ * e_.T + t)]);
  }

  // Replaces each element by `next` of itself and of its product at token t.
  template <class F>
  void for_each(std::int64_t t, F next) {
    const std::int64_t token = sequence_ * e_.T + t;
    const auto x = r_.x.subspan(static_cast<std::size_t>(token * e_.D));
    const auto y = r_.y.subspan(static_cast<std::size_t>(token * e_.DV));
    const auto columns = static_cast<std::size_t>(e_.DV);
    double* row = values_.data();
    for (std::size_t d = 0; d < static_cast<std::size_t>(e_.D); ++d, row += columns) {
      const double left = x[d];
      for (std::size_t i = 0; i < columns; ++i) row[i] = next(row[i], left * y[i]);
    }
  }

  const ScanReference& r_;
  const Extents& e_;
  std::int64_t sequence_;
  std::vector<double> values_;
};

}  // namespace

Extents extents(const ReferenceCall& call) {
  return {call.dim("B") * call.dim("H"), call.dim("T"), call.dim("C"), call.dim("D"),
          call.dim("DV")};
}

void forward_scan(const ScanReference& r) {
  for (std::int64_t q = 0; q < r.extents.sequences; ++q) {
    State state(r, q);
    for (std::int64_t t = 0; t < r.extents.T; ++t) {
      if (t % r.extents.C == 0)
        state.copy_to(r.states, q * (r.extents.T / r.extents.C) + t / r.extents.C);
      state.decay_and_add(t);
    }
    state.copy_to(r.last, q);
  }
}

void backward_scan(const ScanReference& r) {
  for (std::int64_t q = 0; q < r.extents.sequences; ++q) {
    State state(r, q);
    for (std::int64_t t = r.extents.T - 1; t >= 0; --t) {
      if ((t + 1) % r.extents.C == 0)
        state.copy_to(r.states, q * (r.extents.T / r.extents.C) + t / r.extents.C);
      state.add_and_decay(t);
    }
    state.copy_to(r.last, q);
  }
}

void local_states(const ScanReference& r) {
  for (std::int64_t q = 0; q < r.extents.sequences; ++q) {
    State state(r, q);
    for (std::int64_t t = 0; t < r.extents.T; ++t) {
      if (t % r.extents.C == 0) state.clear();
      state.decay_and_add(t);
      if ((t + 1) % r.extents.C == 0)
        state.copy_to(r.states, q * (r.extents.T / r.extents.C) + t / r.extents.C);
    }
  }
}

void reference_fwd_h(ReferenceCall& call) {
  forward_scan({extents(call), call.input("k"), call.input("v"), call.input("g"), call.input("h0"),
                call.output("h"), call.output("ht")});
}

void reference_fwd_phase1(ReferenceCall& call) {
  local_states(
      {extents(call), call.input("k"), call.input("v"), call.input("g"), {}, call.output("s"), {}});
}

void reference_bwd_dh(ReferenceCall& call) {
  backward_scan({extents(call),
                 call.input("q"),
                 call.input("do"),
                 call.input("g"),
                 {},
                 call.output("dh"),
                 call.output("dh0")});
}

void reference_bwd_dh_correction(ReferenceCall& call) {
  const auto e = extents(call);
  const auto local = call.input("local");
  const auto g = call.input("g");
  const auto dht = call.input("dht");
  const auto dh = call.output("dh");
  const std::int64_t n = e.T / e.C;
  const std::int64_t size = e.D * e.DV;
  for (std::int64_t q = 0; q < e.sequences; ++q) {
    double log_decay = 0;
    for (std::int64_t i = n - 1; i >= 0; --i) {
      const double decay = std::exp(log_decay);
      for (std::int64_t j = 0; j < size; ++j) {
        const auto at = static_cast<std::size_t>((q * n + i) * size + j);
        dh[at] = local[at] + decay * dht[static_cast<std::size_t>(q * size + j)];
      }
      for (std::int64_t t = i * e.C; t < (i + 1) * e.C; ++t)
        log_decay += g[static_cast<std::size_t>(q * e.T + t)];
    }
  }
}

}  // namespace redzone::chunk

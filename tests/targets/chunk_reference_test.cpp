// The float64 references compared with closed formulas: a sum over all earlier (later) tokens, with
// each decay summed anew. The formulas use no recurrence and share no code with the references.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>

#include "targets/chunk_plugin.h"

namespace redzone::test {
namespace {

class Call final : public ReferenceCall {
 public:
  Call(const TargetSpec& spec, Dims dims) : dims_(std::move(dims)), config_(default_config(spec)) {
    std::mt19937_64 random(7);
    for (const auto& tensor : spec.tensors) {
      std::size_t n = 1;
      for (const auto extent : tensor.shape_for(dims_, config_))
        n *= static_cast<std::size_t>(extent);
      auto& values = tensors_[tensor.name];
      values.resize(n);
      if (tensor.role == Role::out) continue;
      std::uniform_real_distribution<double> real(tensor.fill.lo, tensor.fill.hi);
      for (double& v : values) v = real(random);
    }
  }

  const Dims& dims() const override { return dims_; }
  const Config& config() const override { return config_; }
  std::span<const double> input(std::string_view name) const override {
    return tensors_.find(name)->second;
  }
  std::span<double> output(std::string_view name) override { return tensors_.find(name)->second; }

  std::span<const double> values(std::string_view name) const {
    return tensors_.find(name)->second;
  }

  // Element of a tensor whose first two dims are B and H, viewed as [B * H, rows, columns].
  double at(std::string_view name, std::int64_t q, std::int64_t row, std::int64_t column,
            std::int64_t columns) const {
    const auto& values = tensors_.find(name)->second;
    const auto rows = static_cast<std::int64_t>(values.size()) / (dim("B") * dim("H")) / columns;
    return values.at(static_cast<std::size_t>((q * rows + row) * columns + column));
  }

  // Sum of the log decays of tokens first .. last - 1.
  double log_decay(std::int64_t q, std::int64_t first, std::int64_t last) const {
    double sum = 0;
    for (std::int64_t t = first; t < last; ++t) sum += at("g", q, t, 0, 1);
    return sum;
  }

 private:
  Dims dims_;
  Config config_;
  std::map<std::string, std::vector<double>, std::less<>> tensors_;
};

// The same call, of whose outputs some rows are asked for.
class Rows final : public SampledCall {
 public:
  Rows(const Call& call, const TargetSpec& spec) : call_(call) {
    for (const auto& tensor : spec.tensors) {
      Output& to = tensors_[tensor.name];
      to.length = static_cast<std::size_t>(tensor.shape_for(call.dims(), call.config()).back());
      const auto n = static_cast<std::int64_t>(call.values(tensor.name).size() / to.length);
      for (std::int64_t row = 0; row < n; row += 1 + row % 3) to.rows.push_back(row);
      to.values.resize(to.rows.size() * to.length);
    }
  }

  const Dims& dims() const override { return call_.dims(); }
  const Config& config() const override { return call_.config(); }
  std::span<const std::int64_t> rows(std::string_view output) const override {
    return tensors_.find(output)->second.rows;
  }
  std::span<double> output(std::string_view name, std::size_t i) override {
    Output& to = tensors_.find(name)->second;
    return std::span(to.values).subspan(i * to.length, to.length);
  }
  std::span<const double> input(std::string_view name, std::int64_t first_row,
                                std::int64_t count) override {
    const auto length = tensors_.find(name)->second.length;
    return call_.values(name).subspan(static_cast<std::size_t>(first_row) * length,
                                      static_cast<std::size_t>(count) * length);
  }
  double input_at(std::string_view name, std::int64_t row, std::int64_t column) override {
    return input(name, row, 1)[static_cast<std::size_t>(column)];
  }

 private:
  struct Output {
    std::size_t length = 1;
    std::vector<std::int64_t> rows;
    std::vector<double> values;
  };
  const Call& call_;
  std::map<std::string, Output, std::less<>> tensors_;
};

// Also of a sequence so long that its first tokens have decayed to nothing at its end.
TEST(ReferenceRows, AreRowsOfTheReference) {
  for (const char* name :
       {"chunk_fwd_h", "chunk_fwd_phase1", "chunk_bwd_dh", "chunk_bwd_dh_correction"}) {
    const auto& t = chunk_target(name);
    ASSERT_GT(t.spec.sampled_rows, 0);
    for (const Dims& dims : {chunk_dims(1, 1, 1, 1, 1, 1), chunk_dims(2, 3, 12, 4, 3, 2),
                             chunk_dims(1, 2, 8, 8, 2, 5), chunk_dims(1, 2, 4096, 128, 2, 3)}) {
      Call call(t.spec, dims);
      Rows rows(call, t.spec);
      t.make()->reference(call);
      t.make()->reference_rows(rows);
      for (const auto& tensor : t.spec.tensors) {
        if (tensor.role == Role::in) continue;
        const auto asked = rows.rows(tensor.name);
        ASSERT_FALSE(asked.empty());
        for (std::size_t i = 0; i < asked.size(); ++i) {
          const auto got = rows.output(tensor.name, i);
          for (std::size_t e = 0; e < got.size(); ++e) {
            const double want =
                call.output(tensor.name)[static_cast<std::size_t>(asked[i]) * got.size() + e];
            ASSERT_NEAR(got[e], want, 1e-12 * (1 + std::abs(want)))
                << name << ", " << tensor.name << ", row " << asked[i] << ", column " << e;
          }
        }
      }
    }
  }
}

// Calls check(call, q, d, e) for every element of the state after the target's reference has run.
template <class F>
void for_each_element(std::string_view target, F check) {
  const auto& t = chunk_target(target);
  for (const Dims& dims :
       {chunk_dims(1, 1, 1, 1, 1, 1), chunk_dims(2, 3, 12, 4, 3, 2), chunk_dims(1, 2, 8, 8, 2, 5),
        chunk_dims(2, 1, 6, 1, 1, 3), chunk_dims(1, 1, 4, 2, 3, 19)}) {
    Call call(t.spec, dims);
    t.make()->reference(call);
    for (std::int64_t q = 0; q < call.dim("B") * call.dim("H"); ++q)
      for (std::int64_t d = 0; d < call.dim("D"); ++d)
        for (std::int64_t e = 0; e < call.dim("DV"); ++e) check(call, q, d, e);
  }
}

double product(const Call& call, const char* x, const char* y, std::int64_t q, std::int64_t t,
               std::int64_t d, std::int64_t e) {
  return call.at(x, q, t, d, call.dim("D")) * call.at(y, q, t, e, call.dim("DV"));
}

// Element (d, e) of state `index` of sequence q.
double state(const Call& call, const char* name, std::int64_t q, std::int64_t index, std::int64_t d,
             std::int64_t e) {
  return call.at(name, q, index * call.dim("D") + d, e, call.dim("DV"));
}

constexpr double kClose = 1e-12;

TEST(ChunkReference, ForwardStates) {
  for_each_element("chunk_fwd_h", [](const Call& c, auto q, auto d, auto e) {
    const auto at_token = [&](std::int64_t end) {
      double sum = std::exp(c.log_decay(q, 0, end)) * state(c, "h0", q, 0, d, e);
      for (std::int64_t t = 0; t < end; ++t)
        sum += std::exp(c.log_decay(q, t + 1, end)) * product(c, "k", "v", q, t, d, e);
      return sum;
    };
    for (std::int64_t i = 0; i < c.dim("T") / c.dim("C"); ++i)
      EXPECT_NEAR(state(c, "h", q, i, d, e), at_token(i * c.dim("C")), kClose);
    EXPECT_NEAR(state(c, "ht", q, 0, d, e), at_token(c.dim("T")), kClose);
  });
}

TEST(ChunkReference, LocalStates) {
  for_each_element("chunk_fwd_phase1", [](const Call& c, auto q, auto d, auto e) {
    for (std::int64_t i = 0; i < c.dim("T") / c.dim("C"); ++i) {
      const std::int64_t end = (i + 1) * c.dim("C");
      double sum = 0;
      for (std::int64_t t = i * c.dim("C"); t < end; ++t)
        sum += std::exp(c.log_decay(q, t + 1, end)) * product(c, "k", "v", q, t, d, e);
      EXPECT_NEAR(state(c, "s", q, i, d, e), sum, kClose);
    }
  });
}

TEST(ChunkReference, BackwardStates) {
  for_each_element("chunk_bwd_dh", [](const Call& c, auto q, auto d, auto e) {
    const auto from_token = [&](std::int64_t first) {
      double sum = 0;
      for (std::int64_t t = first; t < c.dim("T"); ++t)
        sum += std::exp(c.log_decay(q, first, t + 1)) * product(c, "q", "do", q, t, d, e);
      return sum;
    };
    for (std::int64_t i = 0; i < c.dim("T") / c.dim("C"); ++i)
      EXPECT_NEAR(state(c, "dh", q, i, d, e), from_token((i + 1) * c.dim("C")), kClose);
    EXPECT_NEAR(state(c, "dh0", q, 0, d, e), from_token(0), kClose);
  });
}

TEST(ChunkReference, Correction) {
  for_each_element("chunk_bwd_dh_correction", [](const Call& c, auto q, auto d, auto e) {
    for (std::int64_t i = 0; i < c.dim("T") / c.dim("C"); ++i) {
      const double decay = std::exp(c.log_decay(q, (i + 1) * c.dim("C"), c.dim("T")));
      EXPECT_NEAR(state(c, "dh", q, i, d, e),
                  state(c, "local", q, i, d, e) + decay * state(c, "dht", q, 0, d, e), kClose);
    }
  });
}

}  // namespace
}  // namespace redzone::test

// A runner whose outcomes follow a rule and a seeded probability, and plans for it.
#pragma once

#include <functional>
#include <random>

#include "bisect/bisect.h"
#include "bisect/runner.h"

namespace redzone::bisect::testing {

// Fails for plans that satisfy `fails`, with probability `rate`. Other runs pass, or fail otherwise
// for plans that satisfy `fails_otherwise`.
class FakeRunner final : public Runner {
 public:
  using Rule = std::function<bool(const Plan&)>;
  explicit FakeRunner(Rule fails, double rate = 1, std::uint64_t seed = 1)
      : fails_(std::move(fails)), rate_(rate), random_(seed) {}

  std::vector<Counts> run(std::span<const Request> requests) override {
    std::vector<Counts> out;
    for (const auto& request : requests) {
      Counts counts;
      const bool fails = fails_(request.plan);
      const bool otherwise = fails_otherwise && fails_otherwise(request.plan);
      for (std::int64_t i = 0; i < request.times; ++i)
        ++(fails && coin() ? counts.same : otherwise ? counts.other : counts.passed);
      if (counts.other > 0) counts.said = "reference: y (t)";
      runs += request.times;
      ++asked[plan_hash(request.plan)];
      out.push_back(counts);
    }
    return out;
  }

  Rule fails_otherwise = {};
  std::int64_t runs = 0;
  std::map<std::string, int> asked;  // requests by plan

 private:
  bool coin() { return std::bernoulli_distribution(rate_)(random_); }

  Rule fails_;
  double rate_;
  std::mt19937_64 random_;
};

inline TargetSpec sample_spec() {
  TargetSpec spec;
  spec.name = "t";
  spec.dims = {{.name = "T", .min = 1, .max = 4096, .tile = 64},
               {.name = "C", .values = {1, 2, 4, 8, 16, 32, 64}},
               {.name = "H", .min = 1, .max = 8}};
  spec.constraints = {Constraint::divides("C", "T")};
  spec.tensors = {{.name = "x", .shape = shape_of({"H", "T"}), .layouts = LayoutRules::strided()},
                  {.name = "y", .role = redzone::Role::out, .shape = shape_of({"H", "T"})}};
  spec.knobs = {{.name = "num_warps", .values = {4, 8, 2}},
                {.name = "block", .values = {64, 128}},
                {.name = "dtype", .values = {"f32", "bf16"}}};
  return spec;
}

inline CallStep call_step(std::int64_t t, std::int64_t c, std::int64_t h = 2) {
  CallStep step;
  step.call.dims = {{"T", t}, {"C", c}, {"H", h}};
  step.call.config = {{"num_warps", 4}, {"block", 64}, {"dtype", "f32"}};
  return step;
}

inline Plan sample_plan(const std::vector<CallStep>& calls) {
  Plan plan;
  plan.target = "t";
  plan.steps.assign(calls.begin(), calls.end());
  return plan;
}

inline const Row& row_of(const Bisection& b, std::string_view axis) {
  for (const auto& row : b.rows)
    if (row.axis == axis) return row;
  static const Row none{AxisKind::knob, "no such row", "", {}, {}, {}};
  return none;
}

// The axes with one of these roles, in the order of `b`.
inline std::vector<std::string> axes_with(const Bisection& b,
                                          std::initializer_list<Relevance> roles) {
  std::vector<std::string> out;
  for (const auto& row : b.rows)
    for (const auto relevance : roles)
      if (row.relevance() == relevance) out.push_back(row.axis);
  return out;
}

}  // namespace redzone::bisect::testing

// Finds for which values of one dim a plan fails: a threshold if there is one (8191 passes, 8192
// fails), otherwise a class of values: remainders, for instance by 16 or by the tile, or powers of
// two.
//
// A rule is fitted to samples, tested on values it has not seen, and fitted again if it was wrong.
// So the rule is only as good as its samples, which are all in the result.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "bisect/axes.h"
#include "bisect/prober.h"

namespace redzone::bisect {

// A rule for the values that fail: `value` fails if it lies in [least, most] and belongs to a
// failing class.
struct DimRule {
  enum class Class : std::uint8_t { all, remainders, all_but_remainders, powers, all_but_powers };
  std::optional<std::int64_t> least, most;
  Class kind = Class::all;
  std::int64_t modulus = 1;  // divisor of the remainders
  // The remainders that fail; with all_but_remainders those that do not.
  std::set<std::int64_t> remainders;

  bool fails(std::int64_t value) const;
  // "fails for T >= 8192", "fails for N % 4 = 3".
  std::string text(const std::string& dim) const;
};

// Returns the simplest rule that agrees with all samples. Returns nothing if no rule does, or if no
// class explains one or two failing values between passing ones. `tile`: an additional modulus to
// try; 0: none.
std::optional<DimRule> fit_rule(const std::map<std::int64_t, bool>& fails, std::int64_t tile);

struct DimSample {
  std::int64_t value = 0;
  Probe probe;
};

struct Boundary {
  std::string dim;
  std::string calls;  // changed calls: "", "call 2", "all calls"
  Probe base;
  std::vector<DimSample> samples;  // ascending; includes samples that could not be judged
  std::optional<DimRule> rule;
  std::string background;  // see Bisection::background
  // Passing values near the plan's own value that fail with other data.
  std::vector<std::int64_t> only_this_data;
  // The same with other seeds of the schedule.
  std::vector<std::int64_t> only_this_schedule;
  // Up to this value samples are drawn. A larger one that takes little work is also tried, and
  // those between if it contradicts the rule.
  std::int64_t reach = 0;
  std::int64_t possible = 0;  // number of values up to there
  std::size_t predicted = 0;  // samples that the rule predicted correctly
  std::int64_t runs = 0;
  bool complete = false;

  const DimSample* sample(std::int64_t value) const;
};

struct BoundaryOptions {
  std::size_t call = 0;  // counted from 1; 0: all calls if they agree in the dim, else the last
  double error = 0.02;
  AxesOptions axes = {};
};

// Returns a usage error if the target has no such dim or the plan no such call.
Result<Boundary> find_boundary(const Plan& plan, const TargetSpec& spec, const std::string& dim,
                               Prober& prober, const BoundaryOptions& options);

// One line: the rule, with the runs on both sides of a threshold.
std::string sentence(const Boundary& boundary);

}  // namespace redzone::bisect

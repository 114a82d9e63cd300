// Bisects a failure to settings that are no part of a plan: each has the value with which it
// failed, and others to try.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bisect/bisect.h"
#include "bisect/prober.h"

namespace redzone::bisect {

struct Choice {
  std::string name;                 // "placement"
  std::string value;                // with which it failed
  std::vector<std::string> others;  // to try
};

// One setting with another value: others[other] of the choice.
struct Changed {
  std::size_t choice = 0, other = 0;
  auto operator<=>(const Changed&) const = default;
};

// Makes `times` runs with these changes; all other settings are as they failed.
using RunChanged = std::function<Counts(std::span<const Changed> changes, std::int64_t times)>;

struct TriedChoice {
  std::string value;
  Probe probe;
};

struct ChoiceRow {
  std::string name, value;
  std::vector<TriedChoice> tried;

  // necessary: with another value it does not fail as recorded. irrelevant: it does with each.
  Relevance relevance() const;
};

struct ChoiceBisection {
  Probe base;  // unless it fails, there was nothing to bisect
  std::vector<ChoiceRow> rows;
  // All settings that do not matter alone, changed at once. Absent for fewer than two.
  std::optional<Probe> together;
  std::int64_t runs = 0;
  bool complete = false;  // not ended by the budget
};

// `error`: the chance that any value is wrongly judged as passing.
ChoiceBisection bisect_choices(std::span<const Choice> choices, const RunChanged& run,
                               const ProbeBudget& budget, double error = 0.02);

// Makes `times` runs with the numbers from `first` to `last` alone.
using RunRange = std::function<Counts(std::uint64_t first, std::uint64_t last, std::int64_t times)>;

struct NarrowedRange {
  std::uint64_t first = 0, last = 0;  // is enough for the failure
  // No half of it is; false if that could not be judged, or if the budget ended.
  bool decided = false;
};

// Narrows 1..n, which fails with `base`, to the one number that is enough for the failure, by
// halves. Each is asked with as many runs as the sequential test needs. `error`: the chance that
// any half that fails is judged as passing.
NarrowedRange narrowed(std::uint64_t n, const Counts& base, const RunRange& run,
                       const ProbeBudget& budget, double error = 0.02);

}  // namespace redzone::bisect

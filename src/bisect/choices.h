// Bisects a failure to settings that are not part of a plan: each has the value with which the
// failure occurred, and other values to try.
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
  std::string value;                // value with which it failed
  std::vector<std::string> others;  // to try
};

// Gives one setting another value: others[other] of the choice.
struct Changed {
  std::size_t choice = 0, other = 0;
  auto operator<=>(const Changed&) const = default;
};

// Makes `times` runs with these changes; all other settings keep the values with which it failed.
using RunChanged = std::function<Counts(std::span<const Changed> changes, std::int64_t times)>;

struct TriedChoice {
  std::string value;
  Probe probe;
};

struct ChoiceRow {
  std::string name, value;
  std::vector<TriedChoice> tried;

  // necessary: some other value does not show the recorded failure. irrelevant: every other value
  // shows it.
  Relevance relevance() const;
};

struct ChoiceBisection {
  Probe base;  // if it does not fail, nothing was bisected
  std::vector<ChoiceRow> rows;
  // All settings that do not matter alone, changed at once. Absent if there are fewer than two.
  std::optional<Probe> together;
  std::int64_t runs = 0;
  bool complete = false;  // not cut short by the budget
};

// `error`: chance that any value is wrongly judged as passing.
ChoiceBisection bisect_choices(std::span<const Choice> choices, const RunChanged& run,
                               const ProbeBudget& budget, double error = 0.02);

// Makes `times` runs with only the items numbered `first` to `last`.
using RunRange = std::function<Counts(std::uint64_t first, std::uint64_t last, std::int64_t times)>;

struct NarrowedRange {
  std::uint64_t first = 0, last = 0;  // this range is enough for the failure
  // No half of the range is enough for the failure; false if that could not be judged, or if the
  // budget ended.
  bool decided = false;
};

// Narrows 1..n, which fails with `base`, by halves to a single number that is enough for the
// failure, or to a range of which no half is enough. Each half is run as often as the sequential
// test needs. `error`: chance that any half that fails is judged as passing.
NarrowedRange narrowed(std::uint64_t n, const Counts& base, const RunRange& run,
                       const ProbeBudget& budget, double error = 0.02);

}  // namespace redzone::bisect

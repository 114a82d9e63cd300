// Bisects a failure to settings that are no part of a plan: each has the value with which it
// failed, and others to try.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
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

// Narrows 1..n, which fails, to the one number that is enough for the failure: halves by
// `fails(first, last)`. The range that is left is wider if neither half fails alone.
std::pair<std::uint64_t, std::uint64_t> narrowed(
    std::uint64_t n, const std::function<bool(std::uint64_t first, std::uint64_t last)>& fails);

}  // namespace redzone::bisect

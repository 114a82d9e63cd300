// Which setting is it? From a failing plan to the settings that matter to it.
//
// 1. How often does it fail? That sets how many passes it takes to believe in one (prober.h).
// 2. Each axis alone (axes.h), the others as in the failing plan.
// 3. What did not matter alone is changed together, in random combinations: two settings may each
//    be enough for the failure, and then neither of them makes it go. Combinations that pass are
//    taken apart by delta debugging.
// 4. What passes with another dim is tried with other data: where it fails then, it passed for what
//    the data happened to be. What passes with another setting is tried under the other launches
//    that fail as well: where it fails then, two mechanisms show one signature, and the setting
//    matters to one of them only.
// 5. From a plan that passes and differs in all that it can: which settings of the failing plan
//    bring the failure back?
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bisect/axes.h"
#include "bisect/prober.h"

namespace redzone::bisect {

// A value that was tried in place of the failing plan's.
struct Tried {
  std::string value;
  Plan plan;
  Probe probe;
  std::optional<Probe> other_data = {};  // it passes, and with other data it fails
  // It passes, and fails under this launch. The failing plan fails under both launches.
  struct OtherLaunch {
    std::string launch;
    Probe probe;
  };
  std::optional<OtherLaunch> other_launch = {};
};

enum class Relevance : std::uint8_t {
  irrelevant,  // it fails with every value that was tried, alone and in combinations
  necessary,   // with another value it passes
  sufficient,  // from the passing plan, this setting alone brings the failure back
  both,
  conditional,  // it changes nothing alone, and decides where another setting is not as it was
  unknown,      // not decided within the budget, or no value could be judged
};

constexpr auto enum_table(Relevance) {
  return enum_names<Relevance>("relevance", {{Relevance::irrelevant, "irrelevant"},
                                             {Relevance::necessary, "necessary"},
                                             {Relevance::sufficient, "sufficient"},
                                             {Relevance::both, "necessary, sufficient"},
                                             {Relevance::conditional, "conditional"},
                                             {Relevance::unknown, "unknown"}});
}

struct Row {
  AxisKind kind = AxisKind::knob;
  std::string axis;
  std::string value;  // of the failing plan
  std::vector<Tried> tried;
  std::optional<bool> necessary, sufficient;
  // It matters only together with these: any one of the settings is enough for the failure.
  std::vector<std::string> or_else = {};
  // Conditional: where one of these settings has another value, it is this one that decides.
  std::vector<std::string> decides_with = {};
  bool by_oracle = false;  // the oracle itself varies it, and says that it matters

  Relevance relevance() const;
};

// A change of settings and what it did.
struct ChangeSet {
  std::vector<std::string> settings;  // "num_warps = 8"
  Plan plan;
  Probe probe;
};

struct Bisection {
  Plan plan;
  Probe base;  // anything but `fails`: there was nothing to bisect
  std::vector<Row> rows;
  std::optional<ChangeSet> go;          // a smallest change that makes the failure go
  std::optional<ChangeSet> come;        // a smallest part of the failing plan that brings it back
  std::vector<ChangeSet> combinations;  // of settings that did not matter alone
  std::int64_t runs = 0;                // made now; what was remembered is not counted
  bool complete = false;                // the budget did not end it
};

struct BisectOptions {
  AxesOptions axes = {};
  double error = 0.02;  // the chance that any of the values is taken for passing and is not
  std::size_t combinations = 8;
};

Bisection bisect(const Plan& plan, const TargetSpec& spec, Prober& prober,
                 const BisectOptions& options);

}  // namespace redzone::bisect

// Bisects a failing plan to the settings that matter.
//
// 1. Measures how often it fails, which sets how many passes prove one (prober.h).
// 2. Changes each axis alone (axes.h), the others as in the failing plan.
// 3. Changes the settings that did not matter alone together, in random combinations: if each
//    of two settings is enough for the failure, changing either does not end it. Combinations
//    that pass are split by delta debugging.
// 4. Tries a passing change of a dim with other data: if that fails, the change passed because of
//    the data. Tries a passing change of another setting under the other launches that fail: if
//    that fails, two mechanisms have one signature, and the setting matters to one of them only.
// 5. From a plan that passes and differs in as much as possible: finds which settings of the
//    failing plan restore the failure.
// 6. Of a dim, tries the values next to the one at which it seems to begin or to cease to fail, and
//    adds those that earlier questions about the finding have decided.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bisect/axes.h"
#include "bisect/prober.h"

namespace redzone::bisect {

// A value tried instead of the failing plan's.
struct Tried {
  std::string value;
  Plan plan;
  Probe probe;
  std::optional<Probe> other_data = {};  // the value passes, but fails with other data
  // The value passes, but fails under this launch. The failing plan fails under both launches.
  struct OtherLaunch {
    std::string launch;
    Probe probe;
  };
  std::optional<OtherLaunch> other_launch = {};
};

enum class Relevance : std::uint8_t {
  irrelevant,  // fails with every value tried, alone and in combinations
  necessary,   // passes with another value, or shows the background alone
  sufficient,  // in the passing plan, this setting alone restores the failure
  both,
  conditional,  // no effect alone, but decides if another setting is changed
  otherwise,    // fails with other values too, but always in another way
  unknown,      // not decided within the budget, or no value could be judged
};

constexpr auto enum_table(Relevance) {
  return enum_names<Relevance>("relevance", {{Relevance::irrelevant, "irrelevant"},
                                             {Relevance::necessary, "necessary"},
                                             {Relevance::sufficient, "sufficient"},
                                             {Relevance::both, "necessary, sufficient"},
                                             {Relevance::conditional, "conditional"},
                                             {Relevance::otherwise, "fails otherwise"},
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
  // Conditional: if one of these settings has another value, this one decides.
  std::vector<std::string> decides_with = {};
  // Every other value fails, and none as recorded. In every run, unless the plan itself passes now
  // and then.
  bool otherwise = false;
  bool by_oracle = false;  // the oracle varies it itself and reports that it matters
  // Of a dim that has a list of values: each valid one was tried, and none that passes fails with
  // other data.
  bool all_tried = false;
  // Of a dim: the nearest valid values below and above each value that passes.
  std::map<std::int64_t, std::vector<std::int64_t>> beside = {};

  // Sets `necessary` and `otherwise` by what was tried. `base`: the failing plan's runs.
  void judge(const Counts& base);
  Relevance relevance() const;
};

// A change of settings and its result.
struct ChangeSet {
  std::vector<std::string> settings;  // "num_warps = 8"
  Plan plan;
  Probe probe;
};

struct Bisection {
  Plan plan;
  Probe base;  // unless it fails, there was nothing to bisect
  std::vector<Row> rows;
  // A failure that every value shows which ends the recorded one, so that none passes
  // (background_of()). Such values have the answer `passes`. "": there is none.
  std::string background;
  std::optional<ChangeSet> go;    // a smallest change that ends the failure
  std::optional<ChangeSet> come;  // a smallest part of the failing plan that restores the failure
  std::vector<ChangeSet> combinations;  // of settings that had no effect alone
  std::int64_t runs = 0;                // made now, excluding remembered ones
  bool complete = false;                // not ended by the budget
};

struct BisectOptions {
  AxesOptions axes = {};
  double error = 0.02;  // the chance that any value is wrongly judged as passing
  std::size_t combinations = 8;
};

Bisection bisect(const Plan& plan, const TargetSpec& spec, Prober& prober,
                 const BisectOptions& options);

}  // namespace redzone::bisect

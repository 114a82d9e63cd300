// Bisects a failing plan to the settings that matter.
//
// 1. Measures how often the plan fails, which sets how many passes prove a pass (prober.h).
// 2. Changes each axis alone (axes.h), with the other axes as in the failing plan.
// 3. Changes settings that did not matter alone together, in random combinations: if either of two
//    settings is enough for the failure, changing one of them does not end it. Combinations that
//    pass are split by delta debugging.
// 4. Starts from a plan that passes and differs in as many settings as possible, and finds which
//    settings of the failing plan restore the failure.
// 5. For a dim, tries the values next to the value at which it seems to begin or cease to fail, and
//    adds values that earlier bisections of the finding have decided.
// 6. Repeats passing changes of dims with other data, of dims and knobs under other schedules, and
//    of all settings under the other launch modes that fail: if that fails, the change passed only
//    because of these, or two mechanisms have the same signature (rechecks.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bisect/axes.h"
#include "bisect/prober.h"

namespace redzone::bisect {

// A value tried in place of the failing plan's value.
struct Tried {
  std::string value;
  Plan plan;
  Probe probe;
  // The value passes, but fails with `failing` of the `tried` other seeds of the data. `probe`: of
  // the first of these.
  struct OtherData {
    Probe probe;
    std::size_t failing = 0, tried = 0;
  };
  std::optional<OtherData> other_data = {};
  // The value passes, but fails under this launch mode. The failing plan fails under both.
  struct OtherLaunch {
    std::string launch;
    Probe probe;
  };
  std::optional<OtherLaunch> other_launch = {};
  // The value passes, but fails with this seed of the schedule.
  struct OtherSchedule {
    std::string seed;
    Probe probe;
  };
  std::optional<OtherSchedule> other_schedule = {};

  // True if the value is known to pass only under the conditions of the failing plan.
  bool is_doubtful() const { return other_data || other_launch || other_schedule; }
};

enum class Relevance : std::uint8_t {
  irrelevant,  // no tried value passes, alone or in combinations, and some fail as recorded
  necessary,   // passes with another value, or shows only the background failure
  sufficient,  // in the passing plan, this setting alone restores the failure
  both,
  conditional,  // no effect alone, but decides if another setting is changed
  otherwise,    // fails with all other values, but always in another way
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
  std::string value;  // value in the failing plan
  std::vector<Tried> tried;
  std::optional<bool> necessary, sufficient;
  // Names of other settings: this setting matters only together with these, because any one of the
  // settings is enough for the failure.
  std::vector<std::string> or_else = {};
  // Names of other settings: if one of these has another value, this setting decides
  // (Relevance::conditional).
  std::vector<std::string> decides_with = {};
  // Every other value fails, and none as recorded. Every run fails, unless the failing plan itself
  // passes sometimes.
  bool otherwise = false;
  bool by_oracle = false;  // the oracle varies this setting itself and reports that it matters
  // For a dim with a list of values: every valid value was tried.
  bool all_tried = false;
  // For a dim: maps each passing value to the nearest valid values below and above it.
  std::map<std::int64_t, std::vector<std::int64_t>> beside = {};

  // Sets `necessary` and `otherwise` from `tried`. `base`: counts of the failing plan.
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
  Probe base;  // if it does not fail, nothing was bisected
  std::vector<Row> rows;
  // Signature of a second failure that shows with every value that ends the recorded one, so that
  // no value passes (background_of()). Such values have Answer::passes. "" if there is none.
  std::string background;
  std::optional<ChangeSet> go;    // a 1-minimal change that ends the failure
  std::optional<ChangeSet> come;  // a 1-minimal part of the failing plan that restores the failure
  std::vector<ChangeSet> combinations;  // of settings that had no effect alone
  std::int64_t runs = 0;                // made by this bisection, excluding remembered runs
  bool complete = false;                // not cut short by the budget
};

struct BisectOptions {
  AxesOptions axes = {};
  double error = 0.02;  // chance that any value is wrongly judged as passing
  std::size_t combinations = 8;
};

Bisection bisect(const Plan& plan, const TargetSpec& spec, Prober& prober,
                 const BisectOptions& options);

}  // namespace redzone::bisect

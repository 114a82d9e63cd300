// The axes along which one plan can run in several ways, each a row of one table. A row is the only
// definition of its axis: the screen, the oracles that compare, the names of failures, attribution,
// bisection, reduction and reports read it here.
//
// Settings of the target (knobs, dims, layouts, data) are not in this table: the spec defines them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/device_traits.h"
#include "core/plan.h"
#include "core/trial.h"
#include "core/verdict.h"

namespace redzone {

// A plan with several changes in progress. Dropped steps keep their index until done(), so that
// other changes still find their steps.
struct Draft {
  Plan plan;
  std::vector<bool> dropped;  // for each step

  explicit Draft(Plan p) : plan(std::move(p)), dropped(plan.steps.size(), false) {}
  Plan done() const;
};

struct ModeValue {
  std::string name;  // "gated"
  std::function<void(Draft&)> set;
};

// Every function is pure, so that a stored plan expands to the same trials again. A null function:
// the axis lacks that feature.
struct ModeAxis {
  std::string_view name;  // "launch"; stored with attributions

  // Meaning of a difference along the axis. Empty: no oracle compares along it.
  std::string_view oracle = {};  // its name: "async"
  FailKind kind = FailKind::divergence;
  std::string_view claim = {};  // "'y' depends on <claim>"

  // The axis affects enqueued work only, not targets whose calls compute at once.
  bool of_enqueued_work = false;
  // Whether the axis applies to the plan. Null: always.
  bool (*has)(const Plan&) = nullptr;
  // The plan's own value, which need not be one of `values`.
  std::string (*value)(const Plan&) = nullptr;
  // Values that bisection tries. Attribution tries only the first `attributed` of them, because
  // each costs several runs of the finding's oracle and attribution runs without being requested.
  std::vector<ModeValue> values = {};
  std::size_t attributed = std::numeric_limits<std::size_t>::max();
  std::size_t attributes() const { return std::min(attributed, values.size()); }
  // The axis changes the steps themselves, so it cannot be combined with changes of single steps.
  bool alone = false;
  // If a finding always fails with the plan's own value and never with another, reports state that
  // the finding needs that value.
  bool needed = false;

  // Changes a trial of the plan to another value, for the oracle that compares along the axis. The
  // oracle tries `compared` values, each derived from the previous one; more than one if only some
  // values of the axis show a difference.
  void (*vary)(const Plan&, TrialSpec&) = nullptr;
  std::size_t compared = 1;
  // The second trial of the screen varies this axis, too. The screen itself sets launch, allocator,
  // placement and order.
  bool screened = false;

  // Copies the axis's setting from another mode.
  void (*take)(Mode& mode, const Mode& from) = nullptr;
  // The mode with simpler values, simplest first, for the reduction, which drops equal modes.
  std::vector<Mode> (*plainer)(const Mode&) = nullptr;
};

// Axis names used in code. kLoad is not a row of the table, because it is not a way to run a plan:
// it is the load of the machine, with the values kAlone and kSideBySide.
namespace axis {
inline constexpr std::string_view kLaunch = "launch", kPoison = "poison", kSchedule = "schedule";
inline constexpr std::string_view kLoad = "load", kAlone = "alone", kSideBySide = "side by side";
}  // namespace axis

// The axes of a device whose seeds decide how blocks, threads and streams interleave.
const std::vector<ModeAxis>& all_mode_axes();

// The axes of a device whose seeds decide `decides`: unless they decide the interleaving, the row
// "schedule" is absent or replaced by one that varies whether the device is kept busy.
std::vector<ModeAxis> mode_axes_with(SeedDecides decides);

// Those axes that affect targets whose calls compute at once.
std::vector<ModeAxis> mode_axes_at_once(std::vector<ModeAxis> axes);

// Null if no axis has that name.
const ModeAxis* find_mode_axis(std::span<const ModeAxis> axes, std::string_view name);

// A row of all_mode_axes(), which must exist.
const ModeAxis& mode_axis(std::string_view name);

}  // namespace redzone

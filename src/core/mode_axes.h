// The axes along which one plan can run in several ways, each a row of one table. What a row says
// is all that is known of its axis: the screen, the oracles that compare, the naming of a failure,
// its attribution, bisection, the reduction and the reports read it here.
//
// A setting of the target (a knob, a dim, a layout, the data) is no axis of this table: those are
// the spec's.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/plan.h"
#include "core/trial.h"
#include "core/verdict.h"

namespace redzone {

// A plan in the middle of several changes: steps that are left out are still counted, so that the
// changes to the others find them.
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

// Every function is pure, so that a stored plan expands to the same trials again. A null one: the
// axis has no such thing.
struct ModeAxis {
  std::string_view name;  // "launch"; stored with attributions

  // What a difference along it means. No oracle: nothing compares along it.
  std::string_view oracle = {};  // its name: "async"
  FailKind kind = FailKind::divergence;
  std::string_view claim = {};  // "'y' depends on <claim>"

  // It has an effect only where the device draws its schedule from Mode::schedule_seed.
  bool of_seeded_schedules = false;
  // Has the plan anything along it? Null: always.
  bool (*has)(const Plan&) = nullptr;
  // The plan's own value, which need not be among those that are tried.
  std::string (*value)(const Plan&) = nullptr;
  // What bisection tries, and of them how many, from the first on, attribution does: there each
  // value costs several runs of the finding's oracle, also where nobody asked what matters.
  std::vector<ModeValue> values = {};
  std::size_t attributed = std::numeric_limits<std::size_t>::max();
  std::size_t attributes() const { return std::min(attributed, values.size()); }
  // It changes the steps themselves, and so does not go together with what changes single steps.
  bool alone = false;
  // A finding that fails always, and never with another value, is said to need its value.
  bool needed = false;

  // Takes a trial of the plan to another value: for the oracle that compares along it.
  void (*vary)(const Plan&, TrialSpec&) = nullptr;
  // The second trial of the screen is varied so, too. The screen itself sets launch, allocator,
  // placement and order.
  bool screened = false;

  // Gives the mode the value of another one.
  void (*take)(Mode& mode, const Mode& from) = nullptr;
  // The mode with plainer values, plainest first: for the reduction, which drops what is equal.
  std::vector<Mode> (*plainer)(const Mode&) = nullptr;
};

// Names that code must know. kLoad is no way to run a plan and no row of the table: how busy the
// machine is, whose values are kAlone and kSideBySide.
namespace axis {
inline constexpr std::string_view kLaunch = "launch", kPoison = "poison", kSchedule = "schedule";
inline constexpr std::string_view kLoad = "load", kAlone = "alone", kSideBySide = "side by side";
}  // namespace axis

const std::vector<ModeAxis>& all_mode_axes();

// Those that have an effect on a device.
std::vector<ModeAxis> mode_axes_with(bool seeded_schedules);

// Null where there is none of that name.
const ModeAxis* find_mode_axis(std::span<const ModeAxis> axes, std::string_view name);

// A row of the whole table, which must be there.
const ModeAxis& mode_axis(std::string_view name);

}  // namespace redzone

// What may matter to a failing plan: one axis for each thing that can be changed alone, with the
// values to try. Knobs, modes, dims, layouts, data and steps are all rows of one kind.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/enum_names.h"
#include "core/plan.h"
#include "core/verdict.h"

namespace redzone::bisect {

enum class AxisKind : std::uint8_t { knob, mode, dim, layout, data, step };

constexpr auto enum_table(AxisKind) {
  return enum_names<AxisKind>("kind of setting", {{AxisKind::knob, "knob"},
                                                  {AxisKind::mode, "mode"},
                                                  {AxisKind::dim, "dim"},
                                                  {AxisKind::layout, "layout"},
                                                  {AxisKind::data, "data"},
                                                  {AxisKind::step, "step"}});
}

// A plan in the middle of several changes: steps that are left out are still counted, so that the
// changes to the others find them.
struct Draft {
  Plan plan;
  std::vector<bool> dropped;  // for each step

  explicit Draft(Plan p) : plan(std::move(p)), dropped(plan.steps.size(), false) {}
  Plan done() const;
};

using Change = std::function<void(Draft&)>;

struct Setting {
  std::string text;  // of the value: "64", "gated", "absent", "as in call 2"
  Change apply;
};

struct Axis {
  AxisKind kind = AxisKind::knob;
  std::string name;   // "num_warps", "call 1: D", "launch", "call 1"
  std::string value;  // of the failing plan
  std::vector<Setting> others;
  // Changes all calls at once, where there are axes for each call besides; or takes a step away.
  // Not combined with others.
  bool alone = false;
};

struct AxesOptions {
  bool schedules = true;  // the device draws its schedule from Mode::schedule_seed
  // The oracle of this kind varies the mode's axis of that name itself, so that it is no row.
  FailKind kind = FailKind::fault;
};

// Each value of each axis is valid for `spec` when it alone is changed; dims that a constraint
// binds to a dim that changes go with it, which the text of the value says. An axis without another
// valid value is left out. `plan` must be valid and make at least one call.
std::vector<Axis> axes_of(const Plan& plan, const TargetSpec& spec, const AxesOptions& options);

// The axis of the mode that the oracle of `kind` varies by itself: "launch" for async; "" for none.
std::string axis_of_oracle(FailKind kind);

}  // namespace redzone::bisect

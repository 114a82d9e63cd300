// What may matter to a failing plan: one axis for each thing that can be changed alone, with the
// values to try. Knobs, modes, dims, layouts, data and steps are all rows of one kind.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/enum_names.h"
#include "core/mode_axes.h"

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
  std::vector<ModeAxis> modes = all_mode_axes();  // that have an effect on the device
  // Of the finding's oracle (see there): these are no rows.
  std::vector<std::string_view> varied = {};
};

// Each value of each axis is valid for `spec` when it alone is changed; dims that a constraint
// binds to a dim that changes go with it, which the text of the value says. An axis without another
// valid value is left out. `plan` must be valid and make at least one call.
std::vector<Axis> axes_of(const Plan& plan, const TargetSpec& spec, const AxesOptions& options);

}  // namespace redzone::bisect

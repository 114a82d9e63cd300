// The settings that a failure may depend on: one axis per property that can be changed alone, with
// the values to try. Knobs, modes, dims, layouts, data and steps all have the same representation.
#pragma once

#include <functional>
#include <string>
#include <string_view>
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
  std::string text;  // the value: "64", "gated", "absent", "as in call 2"
  Change apply;
  bool takes_along = false;  // also changes dims that a constraint binds to the changed one
  bool far = false;  // a dim's far value (far_value()), too large to be combined with others
};

struct Axis {
  AxisKind kind = AxisKind::knob;
  std::string name;   // "num_warps", "call 1: D", "launch", "call 1"
  std::string value;  // value in the failing plan
  std::vector<Setting> others;
  // The axis changes all calls at once, although each call also has an axis, or it removes a step.
  // Such an axis is not combined with other axes.
  bool alone = false;
  // For AxisKind::dim: the dim, borrowed from the spec, and the indices of the call steps that it
  // changes.
  const DimSpec* dim = nullptr;
  std::vector<std::size_t> steps = {};
};

struct AxesOptions {
  std::vector<ModeAxis> modes = all_mode_axes();  // the modes that have an effect on the device
  // Names of axes that the oracle varies itself (Oracle::varies()); they get no axis here.
  std::vector<std::string_view> varied = {};
};

// Name of the axis of the data.
inline constexpr std::string_view kDataAxis = "data";
// Name of the axis of which calls have the same data, and its values.
inline constexpr std::string_view kSameData = "same data";
inline constexpr std::string_view kInAllCalls = "in all calls", kInSomeCalls = "in some calls",
                                  kInNoCall = "in no call";
// Number of other seeds to try.
inline constexpr std::uint64_t kOtherData = 6;
// Gives all calls of the plan the other data number `by`, counted from 1; calls that were identical
// stay identical.
void use_other_data(Plan& plan, std::uint64_t by);

// Returns the axes of the plan. Each value is valid for `spec` if changed alone. Dims that a
// constraint binds to a changed dim are changed too, and the text of the value lists them. Axes
// without another valid value are left out. `plan` must be valid and make at least one call.
std::vector<Axis> axes_of(const Plan& plan, const TargetSpec& spec, const AxesOptions& options);

}  // namespace redzone::bisect

// The settings that a failure may depend on: one axis for each thing that can be changed alone,
// with the values to try. Knobs, modes, dims, layouts, data and steps are all represented alike.
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
  std::string text;  // the value: "64", "gated", "absent", "as in call 2"
  Change apply;
};

struct Axis {
  AxisKind kind = AxisKind::knob;
  std::string name;   // "num_warps", "call 1: D", "launch", "call 1"
  std::string value;  // of the failing plan
  std::vector<Setting> others;
  // Changes all calls at once, although each call has an axis too; or removes a step. Not combined
  // with other axes.
  bool alone = false;
  // Of a dim: which, borrowed from the spec, and the call steps whose dim it is.
  const DimSpec* dim = nullptr;
  std::vector<std::size_t> steps = {};
};

struct AxesOptions {
  std::vector<ModeAxis> modes = all_mode_axes();  // those that have an effect on the device
  // See Oracle::varies(); these get no axis.
  std::vector<std::string_view> varied = {};
};

// How many other seeds are tried.
inline constexpr std::uint64_t kOtherData = 6;
// The plan with the `by`th of them, from 1: in all calls, so that identical calls stay identical.
void use_other_data(Plan& plan, std::uint64_t by);

// Each value of each axis is valid for `spec` when changed alone. Dims that a constraint binds to a
// changed dim are changed too, and the text of the value lists them. Axes without another valid
// value are left out. `plan` must be valid and make at least one call.
std::vector<Axis> axes_of(const Plan& plan, const TargetSpec& spec, const AxesOptions& options);

}  // namespace redzone::bisect

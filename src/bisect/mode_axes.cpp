// Axes of the plan's mode.
#include <algorithm>

#include "bisect/axis_list.h"

namespace redzone::bisect {

void add_mode_axes(AxisList& list, const AxesOptions& options) {
  const auto& told = options.varied;
  for (const auto& axis : options.modes) {
    if (axis.has != nullptr && !axis.has(list.plan())) continue;
    if (std::find(told.begin(), told.end(), axis.name) != told.end()) continue;
    list.begin(AxisKind::mode, std::string(axis.name), axis.value(list.plan()), axis.alone);
    for (const auto& value : axis.values) list.add(value.name, value.set);
  }
}

}  // namespace redzone::bisect

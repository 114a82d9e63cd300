// The oracle that compares along one axis of the table, and a plan to which all of them apply.
#pragma once

#include <string_view>

#include "core/mode_axes.h"
#include "oracles/axis_oracle.h"
#include "oracles/observations.h"

namespace redzone::testing {

inline oracles::AxisOracle along(std::string_view axis) {
  return oracles::AxisOracle(mode_axis(axis));
}

// Two captured calls and a replay, gated. An axis that has an effect on some plans only gets the
// first of its values under which it has one.
inline Plan along_every_axis() {
  Plan plan = plan_of_calls({1, 2});
  plan.mode.launch = Launch::gated;
  for (auto& step : plan.steps) std::get<CallStep>(step).graph = 1;
  plan.steps.emplace_back(ReplayStep{1, 1, 0});
  for (const auto& axis : all_mode_axes()) {
    for (const auto& value : axis.values) {
      if (axis.oracle.empty() || axis.has == nullptr || axis.has(plan)) break;
      Draft draft(plan);
      value.set(draft);
      if (axis.has(draft.plan)) plan = draft.done();
    }
  }
  return plan;
}

}  // namespace redzone::testing

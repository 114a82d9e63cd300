// The oracle that compares along one axis of the table.
#pragma once

#include <string_view>

#include "core/mode_axes.h"
#include "oracles/axis_oracle.h"

namespace redzone::testing {

inline oracles::AxisOracle along(std::string_view axis) {
  return oracles::AxisOracle(mode_axis(axis));
}

}  // namespace redzone::testing

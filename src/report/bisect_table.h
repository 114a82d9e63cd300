// The table of a bisection, shared by all report formats.
#pragma once

#include "bisect/bisect.h"
#include "report/night.h"

namespace redzone::report {

// The title is the bisection's sentence; one row for each setting.
NightTable bisection_table(const bisect::Bisection& bisection);

}  // namespace redzone::report

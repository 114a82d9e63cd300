// The table of a bisection, for every format that shows it.
#pragma once

#include "bisect/bisect.h"
#include "report/night.h"

namespace redzone::report {

// Titled with the bisection's sentence; a row for each setting.
NightTable bisection_table(const bisect::Bisection& bisection);

}  // namespace redzone::report

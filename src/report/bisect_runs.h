// Runs of a bisection as JSON. Private to the reports.
#pragma once

#include "bisect/runner.h"
#include "report/json_parts.h"

namespace redzone::report {

inline Json runs_json(const bisect::Counts& c) {
  return {{"k", c.same},
          {"n", c.judged()},
          {"other", c.other},
          {"unjudged", c.unjudged},
          {"said", c.said}};
}

}  // namespace redzone::report

// Runs of a bisection as JSON. Internal to the reports.
#pragma once

#include <nlohmann/json.hpp>

#include "bisect/runner.h"
#include "report/statistics.h"

namespace redzone::report {

inline nlohmann::ordered_json runs_json(const bisect::Counts& c) {
  const Interval i = wilson_interval({c.same, c.judged()});
  return {{"k", c.same},      {"n", c.judged()},        {"low", i.low},  {"high", i.high},
          {"other", c.other}, {"unjudged", c.unjudged}, {"said", c.said}};
}

inline std::string printed(const nlohmann::ordered_json& json) {
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
}

}  // namespace redzone::report

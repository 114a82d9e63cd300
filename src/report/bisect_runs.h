// Runs of a bisection as JSON. Private to the reports.
#pragma once

#include <nlohmann/json.hpp>

#include "bisect/runner.h"

namespace redzone::report {

inline nlohmann::ordered_json runs_json(const bisect::Counts& c) {
  return {{"k", c.same},
          {"n", c.judged()},
          {"other", c.other},
          {"unjudged", c.unjudged},
          {"said", c.said}};
}

inline std::string printed(const nlohmann::ordered_json& json) {
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
}

}  // namespace redzone::report

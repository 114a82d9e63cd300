// Descriptors as JSON. Private to the reports.
#pragma once

#include <nlohmann/json.hpp>

#include "tma/explain.h"

namespace redzone::report {

nlohmann::ordered_json descriptor_json(const tma::Descriptor& descriptor);

}  // namespace redzone::report

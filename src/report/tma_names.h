// Words for values of tma, and descriptors as JSON; for the reports only.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "tma/explain.h"

namespace redzone::report {

std::string_view name_of(tma::Verdict verdict);

nlohmann::ordered_json descriptor_json(const tma::Descriptor& descriptor);

}  // namespace redzone::report

// Descriptors as JSON. Private to the reports.
#pragma once

#include "report/json_parts.h"
#include "tma/explain.h"

namespace redzone::report {

Json descriptor_json(const tma::Descriptor& descriptor);

}  // namespace redzone::report

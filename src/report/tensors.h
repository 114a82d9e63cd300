// The output of `redzone show --tensors`: the tensors that the calls of a plan receive.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "core/plan_tensors.h"

namespace redzone::report {

// A table with a title, preceded by an empty line.
std::string tensors_text(std::span<const PlanTensor> tensors);
// "call" counts from 1; strides and the offset are in elements.
nlohmann::ordered_json tensors_json(std::span<const PlanTensor> tensors);

}  // namespace redzone::report

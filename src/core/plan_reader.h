// Reads the plan in a document. plan_text.h describes the format; repro.h uses this function to
// read documents that contain more than a plan.
#pragma once

#include "core/plan.h"
#include "core/table_reader.h"

namespace redzone {

// The first name of the layout field "hnd": still accepted, and used in a plan's hash.
inline constexpr std::string_view kFirstHnd = "heads_first";

// Reads all fields of `root` that belong to the plan. Throws FieldError.
Plan read_plan(TableReader& root);

}  // namespace redzone

// The plan that stands in a document. plan_text.h has the form; who reads more than the plan of a
// document (repro.h) begins here.
#pragma once

#include "core/plan.h"
#include "core/table_reader.h"

namespace redzone {

// What the field "hnd" of a layout was called first; read, and part of a plan's hash.
inline constexpr std::string_view kFirstHnd = "heads_first";

// Takes all fields of `root` that are the plan's. Throws FieldError.
Plan read_plan(TableReader& root);

}  // namespace redzone

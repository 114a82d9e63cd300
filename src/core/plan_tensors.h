// The tensors of a plan's calls, as the target's spec derives them from dims, knobs and layouts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/plan.h"

namespace redzone {

struct PlanTensor {
  std::size_t call = 0;  // index into calls_of(plan)
  std::string name;
  Role role = Role::in;
  DType dtype = DType::f32;
  Shape shape;
  Shape strides;                   // elements
  std::int64_t offset_elems = 0;   // position of element [0, 0, ..] in the storage
  std::int64_t storage_bytes = 0;  // from the start of the storage to its last element
};

// Ordered by call, then as in the spec. A usage error that begins with `where` if the plan does not
// fit the spec.
Result<std::vector<PlanTensor>> tensors_of(const Plan& plan, const TargetSpec& spec,
                                           std::string_view where);

}  // namespace redzone

// simplify() as a RapidCheck sequence.
#pragma once

#include <rapidcheck/Seq.h>

#include "core/plan.h"

namespace redzone::generators {

// Copies are independent. `spec` must outlive the sequence.
rc::Seq<Plan> simplify_seq(const Plan& plan, const TargetSpec& spec);

}  // namespace redzone::generators

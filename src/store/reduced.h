// Which findings need no further reduction.
#pragma once

#include <set>
#include <string>

#include "store/store.h"

namespace redzone::store {

// Signature::hash() of each confirmed or flaky finding whose reduction is complete (the plan is
// minimal or the limits were reached), and of the finding's former names. Parses no plan.
Result<std::set<std::string>> reduced_signatures(Store& store);

}  // namespace redzone::store

// Which findings need no reduction any more.
#pragma once

#include <set>
#include <string>

#include "store/store.h"

namespace redzone::store {

// Signature::hash() of each confirmed or flaky finding with a minimal plan. Parses no plan.
Result<std::set<std::string>> reduced_signatures(Store& store);

}  // namespace redzone::store

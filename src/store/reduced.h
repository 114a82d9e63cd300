// Which findings need no reduction any more.
#pragma once

#include <set>
#include <string>

#include "store/store.h"

namespace redzone::store {

// Signature::hash() of each finding that is confirmed or flaky and whose reduction came to an end,
// with a minimal plan or with what its limits allowed, and of the names that it had before. Parses
// no plan.
Result<std::set<std::string>> reduced_signatures(Store& store);

}  // namespace redzone::store

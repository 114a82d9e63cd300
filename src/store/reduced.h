// Which findings need no reduction any more.
#pragma once

#include <set>
#include <string>

#include "store/store.h"

namespace redzone::store {

// Confirmed or flaky, with a reduction that came to an end: with a minimal plan, or with what its
// limits allowed.
bool is_reduced(const Finding& finding);

// Signature::hash() of each finding for which this holds, and of the names that it had before.
// Parses no plan.
Result<std::set<std::string>> reduced_signatures(Store& store);

}  // namespace redzone::store

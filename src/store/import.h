// Stores findings that no campaign has seen, such as those of plan files.
#pragma once

#include <span>
#include <vector>

#include "core/error.h"
#include "store/store.h"

namespace redzone::store {

// Calls Store::record() for each finding, in one transaction: on an error the store is unchanged.
Result<std::vector<Recorded>> record_all(Store& store, std::span<const Finding> findings);

}  // namespace redzone::store

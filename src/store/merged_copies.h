// Which copies of other stores have been merged into a store. Kept in it, so that this says of any
// copy of it what that one has.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "store/store.h"

namespace redzone::store {

// By source: the number of its latest copy that was merged.
Result<std::map<std::string, std::int64_t>> merged_copies(Store& store);
// After the merge: who is killed between the two merges it again, which changes nothing.
Result<void> note_merged_copy(Store& store, const std::string& source, std::int64_t number);

}  // namespace redzone::store

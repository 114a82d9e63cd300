// Which copies of other stores have been merged into a store. Stored in the store itself, so that
// each of its copies records which copies it contains.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "store/store.h"

namespace redzone::store {

// The number of the latest merged copy of each source.
Result<std::map<std::string, std::int64_t>> merged_copies(Store& store);
// Call after the merge: if the process is killed in between, the copy is merged again, which
// changes nothing.
Result<void> note_merged_copy(Store& store, const std::string& source, std::int64_t number);

}  // namespace redzone::store

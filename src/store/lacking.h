// What one store would lose of another if it took its place. Internal to the store.
#pragma once

#include <string>
#include <vector>

#include "core/error.h"

namespace redzone::store {

class Database;

// What `to` has and `from` lacks, of what no prune removes: findings that were confirmed or flaky,
// marks, what later runs said of a finding; and any finding, where `from` has never held anything.
// By content, as ids are compared in vain: stores may be merged, which numbers them anew, or
// pruned. One line each, which name the files; findings in them are those of `to`. Empty: nothing
// is lost.
Result<std::vector<std::string>> lacking(Database& from, Database& to);

}  // namespace redzone::store

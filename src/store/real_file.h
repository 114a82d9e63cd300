// The canonical path of a store, so that all files beside it (log, lock, copies) are in one folder.
#pragma once

#include <filesystem>

namespace redzone::store {

// Resolves links, even to a target that does not exist yet, where SQLite would create the file.
// Returns `file` unchanged if it is not a link, or if links form a cycle. scripts/night_store does
// the same.
std::filesystem::path real_file(const std::filesystem::path& file);

}  // namespace redzone::store

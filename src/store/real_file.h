// Canonical path of a store, so that all files beside it (log, lock, copies) get the same folder.
#pragma once

#include <filesystem>

namespace redzone::store {

// Resolves `file` through links, also to a target that does not exist yet, where SQLite would
// create it. Returns `file` unchanged if it is not a link, or if links form a cycle.
// scripts/night_store does the same.
std::filesystem::path real_file(const std::filesystem::path& file);

}  // namespace redzone::store

// One name for a store, so that all who look beside it (log, lock, copies) look in one place.
#pragma once

#include <filesystem>

namespace redzone::store {

// What `file` is where it is a link, or a link to one, also to what is not there yet: that is where
// SQLite would make it. As it was given where it is none, or where links go in a ring.
// scripts/night_store does the same.
std::filesystem::path real_file(const std::filesystem::path& file);

}  // namespace redzone::store

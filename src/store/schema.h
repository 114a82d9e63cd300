// The tables of the store, as an ordered list of steps from one schema version to the next.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace redzone::store {

// Step i migrates a file from version i to i + 1; `PRAGMA user_version` holds the version. A
// released step is never edited: a change is a new step after it.
using Migrations = std::span<const std::string_view>;

Migrations migrations();

// In the header of every store ("RDZN"), to distinguish it from other programs' SQLite files.
inline constexpr std::int64_t kApplicationId = 0x52445a4e;

}  // namespace redzone::store

// The schema of the store, as an ordered list of steps from one version to the next.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace redzone::store {

// Step i migrates a file from version i to i + 1; `PRAGMA user_version` is the version. A released
// step is never edited: a change is a new step at the end.
using Migrations = std::span<const std::string_view>;

Migrations migrations();

// "RDZN" in the header of every store, which distinguishes it from SQLite files of other programs.
inline constexpr std::int64_t kApplicationId = 0x52445a4e;

}  // namespace redzone::store

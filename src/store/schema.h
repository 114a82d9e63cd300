// The tables of the store, as an ordered list of steps from one schema version to the next.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace redzone::store {

// Step i takes a file from version i to i + 1; `PRAGMA user_version` holds the version. A step that
// was released is never edited: a change is a new step behind it.
using Migrations = std::span<const std::string_view>;

Migrations migrations();

// In the header of every store ("RDZN"), so that another program's SQLite file is told apart.
inline constexpr std::int64_t kApplicationId = 0x52445a4e;

}  // namespace redzone::store

// What tests take away from a store to make it one of an earlier version.
#pragma once

namespace redzone::store::testing {

// Back to version 18: no fleets, and no names that findings had before.
inline constexpr const char* kToVersion18 =
    "DROP TABLE former_names; DROP TABLE merged_copies; ALTER TABLE nights DROP COLUMN fleet; "
    "ALTER TABLE trials DROP COLUMN addresses; ALTER TABLE trials DROP COLUMN stack";

}  // namespace redzone::store::testing

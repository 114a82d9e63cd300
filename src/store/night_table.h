// Nights, their targets and replays as rows. Internal to the store; throws (see Database::read) and
// runs inside the caller's transaction.
#pragma once

#include <cstdint>
#include <vector>

#include "store/database.h"
#include "store/night.h"

namespace redzone::store {

// ordered by campaign
std::vector<NightRun> read_runs(SQLite::Database& sql);
// ordered by name
std::vector<NightTarget> read_targets(SQLite::Database& sql, std::int64_t campaign);
// ordered by subject
std::vector<NightReplay> read_replays(SQLite::Database& sql, std::int64_t campaign);

}  // namespace redzone::store

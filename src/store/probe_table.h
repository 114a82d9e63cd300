// Runs of bisections as rows. Internal to the store; all functions throw (see Database::read and
// Database::write) and run inside the caller's transaction.
#pragma once

#include <vector>

#include "store/database.h"
#include "store/store.h"

namespace redzone::store {

void add_probe_runs(SQLite::Database& sql, const ProbeKey& key, const Plan& plan,
                    const ProbeRecord& runs);
std::vector<ProbeKey> probe_keys(SQLite::Database& sql);  // all of them
std::vector<ProbeRecord> read_probes(SQLite::Database& sql, const ProbeKey& key);

}  // namespace redzone::store

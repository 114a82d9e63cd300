// Trials and artifacts of a finding as rows. Internal to the store; all functions throw (see
// Database::read and Database::write) and run inside the caller's transaction.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "store/database.h"
#include "store/store.h"

namespace redzone::store {

// Ignores `trial.id` and `trial.recorded`.
void insert_trial(SQLite::Database& sql, std::int64_t finding, const TrialRecord& trial);
// Deletes all but the latest `keep` trials of the finding.
void prune_trials(SQLite::Database& sql, std::int64_t finding, std::size_t keep);
std::vector<TrialRecord> read_trials(SQLite::Database& sql, std::int64_t finding);

void put_artifact(SQLite::Database& sql, std::int64_t finding, std::string_view kind,
                  std::string_view name, std::string_view bytes);
std::vector<Artifact> read_artifacts(SQLite::Database& sql, std::int64_t finding);
// Changes the finding's artifacts from `now` to `then`; rows in both are unchanged.
void replace_artifacts(SQLite::Database& sql, std::int64_t finding,
                       const std::vector<Artifact>& now, const std::vector<Artifact>& then);

}  // namespace redzone::store

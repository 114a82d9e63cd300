// Ledger entries, and occurrences by campaign, as rows. Internal to the store; all functions throw
// (see Database::read and Database::write) and run inside the caller's transaction.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/ledger.h"
#include "store/database.h"

namespace redzone::store {

using Entries = std::vector<LedgerEntry>;

// Does nothing if the entry already exists.
void add_entry(SQLite::Database& sql, std::int64_t finding, const LedgerEntry& entry);
Entries read_entries(SQLite::Database& sql, std::int64_t finding);
// Entries of all findings, by finding id.
std::map<std::int64_t, Entries> read_all_entries(SQLite::Database& sql);

// Counts `plans` more plans of the campaign (given by its uid) that showed the finding.
void add_occurrences(SQLite::Database& sql, std::int64_t finding, const std::string& campaign,
                     std::int64_t plans);

}  // namespace redzone::store

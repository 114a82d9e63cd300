// Rows by content, without the ids that a store assigns, so that rows of two stores can be
// compared. Internal to the store; throws, and runs inside the caller's transaction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "store/database.h"

namespace redzone::store {

struct KeptTable {
  const char* name;
  const char* what;   // "replays of nights"
  const char* owner;  // "campaigns" or "findings"
};

// Every table, owners first, except those that only support the rows of others: plans and
// environments, which are compared as parts of their rows, and writers.
std::span<const KeptTable> kept_tables();

struct StoredRow {
  std::int64_t owner = 0;   // the id of its campaign or finding in this store
  std::size_t content = 0;  // a 64-bit hash: a collision among a million rows has probability 10^-7
};

// Restricted to these columns, which must be this build's (known_columns()), never a file's. An id
// is replaced by what it references: a signature, a campaign's uid, a plan, an environment.
std::vector<StoredRow> stored_rows(SQLite::Database& sql, const KeptTable& table,
                                   const std::vector<std::string>& columns);

}  // namespace redzone::store

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

// All tables, owners first, except those that only support other rows: plans and environments,
// which are compared as parts of the rows that reference them, and writers.
std::span<const KeptTable> kept_tables();

struct StoredRow {
  std::int64_t owner = 0;   // id of the row's campaign or finding in this store
  std::size_t content = 0;  // a 64-bit hash: a collision among a million rows has probability 10^-7
};

// The rows, restricted to `columns`, which must come from this build (known_columns()), never from
// a file. An id is replaced by what it references: a signature, a campaign's uid, a plan, an
// environment.
std::vector<StoredRow> stored_rows(SQLite::Database& sql, const KeptTable& table,
                                   const std::vector<std::string>& columns);

}  // namespace redzone::store

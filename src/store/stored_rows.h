// Rows by their content, without the numbers that a store gives, so that those of two stores can be
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

// Every table, owners first, but for those that only serve the rows of these: plans and
// environments, which are part of what names them, and writers.
std::span<const KeptTable> kept_tables();

struct StoredRow {
  std::int64_t owner = 0;   // the number of its campaign or finding in this store
  std::size_t content = 0;  // a 64-bit hash: two of a million rows are taken for one in 1 of 10^7
};

// Of these columns alone, which are this build's (known_columns()), never a file's. What a number
// of a row stands for takes its place: a signature, a campaign's uid, a plan, an environment.
std::vector<StoredRow> stored_rows(SQLite::Database& sql, const KeptTable& table,
                                   const std::vector<std::string>& columns);

}  // namespace redzone::store

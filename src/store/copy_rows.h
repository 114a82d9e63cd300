// Copies rows between stores of the same schema version. Internal to the store; throws, and runs
// inside the caller's transaction.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "store/database.h"

namespace redzone::store {

// Mappings of the integers in columns; columns without an entry are copied unchanged. A column `id`
// is never copied: the row gets a new id. NULL stays NULL.
using Remap = std::map<std::string, std::function<std::int64_t(std::int64_t)>>;

// Whether to copy a row if `into` already has a row that is equal in all columns.
enum class Repeated : std::uint8_t { copied, left_out };

// Copies `columns` of all rows of `table` with `value` in the column `key`. Names become parts of
// statements, so they must come from this build (known_columns()), never from a file.
void copy_rows(SQLite::Database& from, SQLite::Database& into, const std::string& table,
               const std::vector<std::string>& columns, const std::string& key, std::int64_t value,
               const Remap& remap, Repeated repeated = Repeated::copied);

// Returns the id of the plan's row in `into`, and inserts the row if it is absent.
std::int64_t copy_plan(SQLite::Database& from, SQLite::Database& into, std::int64_t id);

}  // namespace redzone::store

// Rows from one store to another of the same schema version. Internal to the store; throws, and
// runs inside the caller's transaction.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "store/database.h"

namespace redzone::store {

// What becomes of the integer in a column; columns that are not named stay as they are. A column
// `id` is never copied: the row gets a new one. NULL stays NULL.
using Remap = std::map<std::string, std::function<std::int64_t(std::int64_t)>>;

// What becomes of a row of which `into` has a row that is equal in all columns.
enum class Repeated : std::uint8_t { copied, left_out };

// The `columns` of all rows of `table` in which the column `key` is `value`, in the order of their
// keys. Names become parts of statements: they are this build's (known_columns()), never a file's.
void copy_rows(SQLite::Database& from, SQLite::Database& into, const std::string& table,
               const std::vector<std::string>& columns, const std::string& key, std::int64_t value,
               const Remap& remap, Repeated repeated = Repeated::copied);

// The id of the plan's row in `into`, which is made when there is none.
std::int64_t copy_plan(SQLite::Database& from, SQLite::Database& into, std::int64_t id);

}  // namespace redzone::store

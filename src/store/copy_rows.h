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

// Mapping of the integer in a column; columns without an entry are copied unchanged. A column `id`
// is never copied: the row gets a new one. NULL stays NULL.
using Remap = std::map<std::string, std::function<std::int64_t(std::int64_t)>>;

// Whether a row is copied if `into` has one that is equal in all columns.
enum class Repeated : std::uint8_t { copied, left_out };

// Copies `columns` of all rows of `table` with `value` in the column `key`, in the order of their
// keys. Names become parts of statements: they must be this build's (known_columns()), never a
// file's.
void copy_rows(SQLite::Database& from, SQLite::Database& into, const std::string& table,
               const std::vector<std::string>& columns, const std::string& key, std::int64_t value,
               const Remap& remap, Repeated repeated = Repeated::copied);

// The id of the plan's row in `into`, which is inserted if absent.
std::int64_t copy_plan(SQLite::Database& from, SQLite::Database& into, std::int64_t id);

}  // namespace redzone::store

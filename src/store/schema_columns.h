// The tables and columns of a store. Internal to the store; throws.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "store/database.h"

namespace redzone::store {

using Columns = std::map<std::string, std::vector<std::string>>;  // by table

// The columns of this file, whoever made it: do not use these names in statements.
Columns columns_of(SQLite::Database& sql);

// The columns of a store with the current schema: the only names used in statements. Read once per
// process from a store in memory.
const Columns& known_columns();

// The statements that made the tables and indexes, by name, as SQLite keeps them: the only record
// of constraints and foreign keys. Migrated stores have the same ones.
using Definitions = std::map<std::string, std::string>;
Definitions definitions_of(SQLite::Database& sql);
const Definitions& known_definitions();

}  // namespace redzone::store

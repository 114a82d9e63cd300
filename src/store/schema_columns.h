// The tables and columns of a store. Internal to the store; throws.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "store/database.h"

namespace redzone::store {

using Columns = std::map<std::string, std::vector<std::string>>;  // by table

// What this file has, whoever made it: names that are no part of a statement.
Columns columns_of(SQLite::Database& sql);

// What a store that is made now has: the only names that statements are made of. Learned once in a
// process, of a store in memory.
const Columns& known_columns();

// The statements that made the tables and indexes, by name, as SQLite keeps them: constraints and
// foreign keys are only there. Older stores have come to the same by the same steps.
using Definitions = std::map<std::string, std::string>;
Definitions definitions_of(SQLite::Database& sql);
const Definitions& known_definitions();

}  // namespace redzone::store

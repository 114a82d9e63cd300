// The tables and columns of a store. Internal to the store; throws.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <map>
#include <string>
#include <vector>

#include "store/schema.h"

namespace redzone::store {

using Columns = std::map<std::string, std::vector<std::string>>;  // by table

// The columns of a store with the current schema: the only names used in statements. Read once per
// process from a store in memory.
const Columns& known_columns();

// How the tables and indexes of this file, whoever made it, differ from those of a store after
// `steps`: one line each, none if they are the same. Reads their definitions only, and runs nothing
// that they contain: SQLite would evaluate the expressions of another file's constraints and
// indexes, for any length of time, and an index more makes it refuse rows. Tables of ANALYZE are no
// difference.
std::vector<std::string> schema_problems(SQLite::Database& sql, Migrations steps);

}  // namespace redzone::store

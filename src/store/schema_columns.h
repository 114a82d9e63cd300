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

// The differences between the tables and indexes of an untrusted file and those of a store after
// `steps`, one line each; empty if there are none. Reads only their definitions and runs nothing in
// them: SQLite would evaluate the expressions of another file's constraints and indexes, for an
// unbounded time, and an additional index could make it refuse rows. Tables of ANALYZE are ignored.
std::vector<std::string> schema_problems(SQLite::Database& sql, Migrations steps);

}  // namespace redzone::store

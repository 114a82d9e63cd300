// Who has written to a store and how often: a version vector (Parker et al., IEEE TSE 9(3), 1983).
// A store that has all writes of another one holds what that one holds, except for what the rules
// of the commands have replaced or removed since. Internal to the store; throws, and runs inside
// the caller's transaction.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "store/database.h"

namespace redzone::store {

struct Writer {
  std::int64_t writes = 0;  // transactions that changed something; a prune and a merge add nothing
  std::string pruned;       // UTC: it removed campaigns that started before; "" without a prune
};

// By name: that of an open database (Database::writer()), new each time that a process opens it;
// or, of what was stored before schema version 10, the uid of a campaign.
using Writers = std::map<std::string, Writer>;

Writers read_writers(SQLite::Database& sql);

void count_write(SQLite::Database& sql, const std::string& writer);
void note_prune(SQLite::Database& sql, const std::string& writer, const std::string& before);
// After a merge `into` has the writes of both.
void join_writers(SQLite::Database& from, SQLite::Database& into);

// Whether `later` has all writes of `earlier`; false of an `earlier` of which nothing is known.
bool follows(const Writers& later, const Writers& earlier);
// The latest that any of them pruned; "" without a prune.
std::string latest_prune(const Writers& writers);

}  // namespace redzone::store

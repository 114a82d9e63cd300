// The writers of a store and their number of writes: a version vector (Parker et al., IEEE TSE
// 9(3), 1983). A store that has all writes of another store also has its contents, except for what
// commands have replaced or removed since by their rules. Internal to the store; throws, and runs
// inside the caller's transaction.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "store/database.h"

namespace redzone::store {

struct Writer {
  std::int64_t writes = 0;  // transactions that changed rows; a prune and a merge do not count
  std::string pruned;       // UTC: campaigns that started before were removed; "" without a prune
};

// By writer name: Database::writer(), which is new each time a process opens the store; for data
// stored before schema version 10, the uid of a campaign.
using Writers = std::map<std::string, Writer>;

Writers read_writers(SQLite::Database& sql);

void count_write(SQLite::Database& sql, const std::string& writer);
void note_prune(SQLite::Database& sql, const std::string& writer, const std::string& before);
// After the call `into` has the writes of both; for a merge.
void join_writers(SQLite::Database& from, SQLite::Database& into);

// Whether `later` has all writes of `earlier`; false if `earlier` has none recorded.
bool follows(const Writers& later, const Writers& earlier);
// The latest prune by any writer; "" without a prune.
std::string latest_prune(const Writers& writers);

}  // namespace redzone::store

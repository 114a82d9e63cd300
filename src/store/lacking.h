// Compares two stores: lists what would be lost if one replaced the other. Internal to the store.
#pragma once

#include <string>

#include "core/error.h"

namespace redzone::store {

class Database;

// One line that lists what `to` has and `from` lacks; "" if nothing would be lost. Ids of campaigns
// and findings in it are those of `to`.
//
// If `from` has all writes of `to` (writer_table.h), then whatever it lacks was removed or replaced
// by a rule of a command (a prune, a smaller repro, a renamed suspect). Contents that no command
// removes must still be there: confirmed and flaky findings, marks, results of later runs of a
// finding, campaigns that no prune removed, and the nights of campaigns with their replays.
//
// Otherwise each row of `to` must be in `from`, compared by content because ids differ between
// stores.
Result<std::string> lacking(Database& from, Database& to);

}  // namespace redzone::store

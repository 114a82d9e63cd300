// What one store would lose of another if it took its place. Internal to the store.
#pragma once

#include <string>

#include "core/error.h"

namespace redzone::store {

class Database;

// In one line what `to` has and `from` lacks; "" where nothing is lost. Campaigns and findings in
// it are those of `to`.
//
// Where `from` has all writes of `to` (writer_table.h), what it lacks was removed or replaced by a
// rule of a command (a prune, a smaller repro, a suspect that got another name). What no command
// removes must be there even so: findings that were confirmed or flaky, marks, what later runs said
// of a finding, campaigns that no prune removed, and the nights of campaigns with their replays.
//
// Everywhere else each row of `to` must be in `from`: by content, as ids are compared in vain.
Result<std::string> lacking(Database& from, Database& to);

}  // namespace redzone::store

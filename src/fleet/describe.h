// Reads a fleet from its shared folder, for its table and page.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "fleet/fleet.h"
#include "fleet/layout.h"
#include "report/fleet.h"
#include "store/store.h"

namespace redzone::fleet {

// `hub`: the hub's published store; null if nothing was published yet.
Result<report::Fleet> describe_fleet(const Layout& layout, const Fleet& fleet, store::Store* hub);

// Maps each finding to the shards that met it, whichever shard saw it first.
Result<std::map<std::int64_t, std::set<int>>> shards_that_met(const Fleet& fleet,
                                                              store::Store& store);

// The number of the fleet's night in the store; empty if the store has no part of it yet.
Result<std::optional<std::int64_t>> night_of(const Fleet& fleet, store::Store& hub);

}  // namespace redzone::fleet

// Reads a fleet from its shared folder, for its table and page.
#pragma once

#include <cstdint>
#include <map>

#include "fleet/fleet.h"
#include "fleet/layout.h"
#include "report/fleet.h"
#include "store/store.h"

namespace redzone::fleet {

// `hub`: the hub's published store; null as long as there is none.
Result<report::Fleet> describe_fleet(const Layout& layout, const Fleet& fleet, store::Store* hub);

// The shard that made each campaign of the fleet's night in the store.
Result<std::map<std::int64_t, int>> shards_by_campaign(const Fleet& fleet, store::Store& store);

// The number of the fleet's night in the store; a usage error if no part of it is there yet.
Result<std::int64_t> night_of(const Fleet& fleet, store::Store& hub);

}  // namespace redzone::fleet

// What an attempt of a shard begins with.
#pragma once

#include <filesystem>
#include <string>

#include "core/error.h"
#include "fleet/attempt.h"
#include "fleet/layout.h"

namespace redzone::fleet {

struct TakenUp {
  int attempt = 0;           // the number of the attempt whose snapshot it is; 0: none
  std::string problem = {};  // the last one that is there and could not be taken up, one line
};

// Makes `store` a sound copy of the latest snapshot of the attempts of this shard before `attempt`,
// or else of one before it, or else of what the fleet began with. If there is none, `store` does
// not exist, and the night begins with nothing. A full local disk is an error.
Result<TakenUp> take_up(const Layout& layout, const std::string& uid, const Attempt& attempt,
                        const std::filesystem::path& store);

}  // namespace redzone::fleet

// The state from which an attempt of a shard starts.
#pragma once

#include <filesystem>
#include <string>

#include "core/error.h"
#include "fleet/attempt.h"
#include "fleet/layout.h"

namespace redzone::fleet {

struct TakenUp {
  int attempt = 0;           // number of the attempt whose snapshot was copied; 0: none
  std::string problem = {};  // why the last store that was tried and rejected is unusable
};

// Makes `store` a verified copy of the latest snapshot of earlier attempts of this shard, or else
// of an earlier snapshot, or else of the store that the fleet started from. If there is none,
// `store` does not exist, and the night starts with nothing. A full local disk is an error.
Result<TakenUp> take_up(const Layout& layout, const std::string& uid, const Attempt& attempt,
                        const std::filesystem::path& store);

}  // namespace redzone::fleet

// The stored form of an observation: JSON, so that later versions can read it and SQLite's JSON
// functions can query it. (Only the build that wrote the binary form of core/wire.h can read it.)
#pragma once

#include <string>
#include <string_view>

#include "core/error.h"
#include "core/trial.h"

namespace redzone::store {

// One line. Members with their default value are omitted. Texts that are not UTF-8 are repaired.
std::string print_observation(const Observation& observation);

// `where` starts the message of the harness error.
Result<Observation> parse_observation(std::string_view text, std::string_view where);

}  // namespace redzone::store

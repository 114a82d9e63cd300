// The stored form of an observation: JSON, so that it can be read years later and queried with
// SQLite's json functions. (The binary form of core/wire.h is only read by the build that wrote
// it.)
#pragma once

#include <string>
#include <string_view>

#include "core/error.h"
#include "core/trial.h"

namespace redzone::store {

// One line. Members that hold their default are left out. Texts that are not UTF-8 are repaired.
std::string print_observation(const Observation& observation);

// `where` starts the message of the harness error.
Result<Observation> parse_observation(std::string_view text, std::string_view where);

}  // namespace redzone::store

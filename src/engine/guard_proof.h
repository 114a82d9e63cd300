// Checks that the guard of programs works here: it must find an overrun that is planted in a child
// process.
#pragma once

#include <cstdint>
#include <string>

#include "core/error.h"

namespace redzone::engine {

enum class GuardedMemory : std::uint8_t { malloc, driver };

// The command of this binary that causes the overrun (cli/cmd_planted.cpp), and its flag.
inline constexpr const char* kPlantedCommand = "planted-overrun";
inline constexpr const char* kPlantedDriver = "--driver";

// Returns a description of the overrun that was found, or a harness error that says why the guard
// does not work.
Result<std::string> prove_guard(GuardedMemory memory);

}  // namespace redzone::engine

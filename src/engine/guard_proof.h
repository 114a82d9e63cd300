// Whether the guard of programs works here: it must find an overrun that is planted in a child.
#pragma once

#include <cstdint>
#include <string>

#include "core/error.h"

namespace redzone::engine {

enum class GuardedMemory : std::uint8_t { malloc, driver };

// The command of this binary that makes the mistake (cli/cmd_planted.cpp), and its flag.
inline constexpr const char* kPlantedCommand = "planted-overrun";
inline constexpr const char* kPlantedDriver = "--driver";

// What was found. A harness error says why the guard does not work.
Result<std::string> prove_guard(GuardedMemory memory);

}  // namespace redzone::engine

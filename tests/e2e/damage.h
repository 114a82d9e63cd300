// Ways in which a store can be damaged: by a disk, by a program, by somebody.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace redzone::e2e {

// Changes the store in one way, the same for the same number, and says how.
std::string damage(const std::filesystem::path& store, std::uint32_t number);

}  // namespace redzone::e2e

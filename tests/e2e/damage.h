// Ways in which a store can be damaged: by a disk, a program or a user.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace redzone::e2e {

// Changes the store in the way given by the number, and returns a description.
std::string damage(const std::filesystem::path& store, std::uint32_t number);

}  // namespace redzone::e2e

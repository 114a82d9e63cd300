// Ways in which a disk, a program or a user can damage a store.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace redzone::e2e {

// Damages the store in the way selected by the number and returns a description.
std::string damage(const std::filesystem::path& store, std::uint32_t number);

}  // namespace redzone::e2e

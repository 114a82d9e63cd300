// Reads the bytes of a file that the user named.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "core/error.h"

namespace redzone {

// A usage error that names the file if it is larger than `most_bytes`, not a regular file, or not
// readable.
Result<std::string> read_file(const std::filesystem::path& path,
                              std::size_t most_bytes = std::size_t{64} << 20);

}  // namespace redzone

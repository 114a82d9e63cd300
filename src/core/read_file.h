// A file's bytes, where a person named the file.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "core/error.h"

namespace redzone {

// A usage error names the file. Larger files, and what is no regular file, are refused.
Result<std::string> read_file(const std::filesystem::path& path,
                              std::size_t most_bytes = std::size_t{64} << 20);

}  // namespace redzone

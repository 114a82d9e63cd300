// A file's bytes, where a person named the file.
#pragma once

#include <filesystem>
#include <string>

#include "core/error.h"

namespace redzone {

// A usage error names the file. Files above 64 MiB, and what is no regular file, are refused.
Result<std::string> read_file(const std::filesystem::path& path);

}  // namespace redzone

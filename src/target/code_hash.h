// Hash of the code that ran: part of the environment of a finding.
#pragma once

#include <filesystem>
#include <string>

#include "core/error.h"

namespace redzone {

// XXH3 of the bytes of `file`, 32 hex digits. A usage error if the file cannot be read.
Result<std::string> code_hash(const std::filesystem::path& file);

}  // namespace redzone

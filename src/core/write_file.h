// Writes a file as a whole.
#pragma once

#include <filesystem>
#include <string_view>

#include "core/error.h"

namespace redzone {

// Makes `text` the contents of the file: in one step, or the file stays as it was. Links are
// followed. The error names the file: a usage error if another name would do (a folder that is not
// there or must not be written to), else, such as on a full disk, a harness error.
Result<void> write_file(const std::filesystem::path& path, std::string_view text);

}  // namespace redzone

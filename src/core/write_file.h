// Writes a file as a whole.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace redzone {

// Makes `text` the contents of the file: in one step, or the file stays as it was. Links are
// followed. Returns why it could not be written, as one line that names the file; nothing if it
// was.
std::optional<std::string> write_file(const std::filesystem::path& path, std::string_view text);

}  // namespace redzone

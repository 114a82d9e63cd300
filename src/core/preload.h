// How a process is started with a library before all others, by LD_PRELOAD. The variable separates
// names by spaces and colons, and has no way to escape them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "core/error.h"

namespace redzone {

// Whether the variable can hold the path.
bool can_be_preloaded(const std::filesystem::path& path);

// A name of the library that the variable can hold: its path, or, where that has a space or a
// colon, a symbolic link to it in `folder`, which is made if it is not there. The link is to exist
// as long as processes with the variable start others. A harness error if the path of `folder` has
// such a character as well, or the link cannot be made.
Result<std::filesystem::path> preload_name(const std::filesystem::path& library,
                                           const std::filesystem::path& folder);

// The value of the variable that names the library before what it names `now`, which may be empty.
std::string preload_before(const std::filesystem::path& name, std::string_view now);

}  // namespace redzone

// Starts a process with a library loaded before all others, by LD_PRELOAD. The variable separates
// names by spaces and colons, and has no escape syntax.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "core/error.h"

namespace redzone {

// Whether LD_PRELOAD can contain the path.
bool can_be_preloaded(const std::filesystem::path& path);

// A name of the library that LD_PRELOAD can contain: its path or, if the path has a space or a
// colon, a symbolic link to the library in `folder`, which is created if it does not exist. The
// link must exist as long as processes with the variable start others. A harness error if the path
// of `folder` has such a character as well, or the link cannot be created.
Result<std::filesystem::path> preload_name(const std::filesystem::path& library,
                                           const std::filesystem::path& folder);

// The value of LD_PRELOAD that lists the library before `now`, the current value, which may be
// empty.
std::string preload_before(const std::filesystem::path& name, std::string_view now);

}  // namespace redzone

// How a process is started with libredzone_memory.so.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace redzone::memory_preload {

// The value of LD_PRELOAD with which a process has the library, before what the variable already
// names (`now`, which may be empty). `now` if the library is not there, as in a build for a
// sanitizer, or if its path has a space or a colon, which the variable cannot hold.
std::string preload_variable(const std::filesystem::path& library, std::string_view now);

}  // namespace redzone::memory_preload

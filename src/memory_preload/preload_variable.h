// How a process is started with libredzone_memory.so.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "core/temporary_folder.h"

namespace redzone::memory_preload {

struct PreloadVariable {
  std::string value;  // "" if the process needs none
  // Has a link that the value names, because the variable cannot hold the path of the library
  // (core/preload.h); else null.
  std::shared_ptr<const TemporaryFolder> folder = {};
};

// The value of LD_PRELOAD with which a process has the library, before what the variable already
// names (`now`, which may be empty). `now` if the library is not there, as in a build for a
// sanitizer, or if no link to it can be made.
PreloadVariable preload_variable(const std::filesystem::path& library, std::string_view now);

}  // namespace redzone::memory_preload

// The value of LD_PRELOAD for a process with libredzone_memory.so.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "core/temporary_folder.h"

namespace redzone::memory_preload {

struct PreloadVariable {
  std::string value;  // "" if LD_PRELOAD need not be set
  // Contains a link to the library, named by `value`, if LD_PRELOAD cannot hold the library's path
  // (core/preload.h); else null.
  std::shared_ptr<const TemporaryFolder> folder = {};
};

// The value of LD_PRELOAD that adds the library before the current value `now`, which may be empty.
// Returns `now` if the library does not exist, as in a build for a sanitizer, or if no link to it
// can be made.
PreloadVariable preload_variable(const std::filesystem::path& library, std::string_view now);

}  // namespace redzone::memory_preload

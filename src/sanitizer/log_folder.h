// A folder for the logs of one session's workers.
#pragma once

#include <filesystem>
#include <utility>

#include "core/error.h"

namespace redzone::sanitizer {

// Made in the folder for temporary files; removed with all that is in it when the owner ends.
class LogFolder {
 public:
  static Result<LogFolder> create();
  LogFolder(LogFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  LogFolder& operator=(LogFolder&&) = delete;
  ~LogFolder();

  const std::filesystem::path& path() const { return path_; }

 private:
  explicit LogFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

// A new, empty file of its own in `folder`.
Result<std::filesystem::path> new_log(const std::filesystem::path& folder);

}  // namespace redzone::sanitizer

// A folder for files that nobody needs after the owner.
#pragma once

#include <filesystem>
#include <string_view>
#include <utility>

#include "core/error.h"

namespace redzone {

// Made in the system's folder for temporary files; removed with all that is in it when the owner
// ends.
class TemporaryFolder {
 public:
  // `purpose` stands in its name. An error where no folder can be made: of the harness.
  static Result<TemporaryFolder> create(std::string_view purpose);
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();

  const std::filesystem::path& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace redzone

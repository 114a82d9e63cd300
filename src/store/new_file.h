// A file that appears at its path atomically, with all of its contents. Internal to the store.
#pragma once

#include <filesystem>
#include <utility>

#include "core/error.h"

namespace redzone::store {

// A temporary file beside its final path; the destructor removes it unless it was renamed.
class NewFile {
 public:
  // A usage error if no file can be created in the folder.
  static Result<NewFile> beside(const std::filesystem::path& file);
  NewFile(NewFile&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  NewFile& operator=(NewFile&&) = delete;
  ~NewFile();

  const std::filesystem::path& path() const { return path_; }
  // Renames the temporary file to `file`; fails if `file` exists.
  Result<void> become(const std::filesystem::path& file);
  // Renames the temporary file to `file`, which may exist. Contents and name are on the disk on
  // return.
  Result<void> replace(const std::filesystem::path& file);

 private:
  explicit NewFile(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace redzone::store

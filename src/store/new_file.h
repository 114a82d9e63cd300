// A file that appears at its path as a whole. Internal to the store.
#pragma once

#include <filesystem>
#include <utility>

#include "core/error.h"

namespace redzone::store {

// A temporary file beside its final path; the destructor removes it unless it was renamed.
class NewFile {
 public:
  // A usage error if no file can be created there.
  static Result<NewFile> beside(const std::filesystem::path& file);
  NewFile(NewFile&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  NewFile& operator=(NewFile&&) = delete;
  ~NewFile();

  const std::filesystem::path& path() const { return path_; }
  // Fails if `file` exists.
  Result<void> become(const std::filesystem::path& file);
  // Takes the place of `file` if it exists. Contents and name are on the disk when this returns.
  Result<void> replace(const std::filesystem::path& file);

 private:
  explicit NewFile(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace redzone::store

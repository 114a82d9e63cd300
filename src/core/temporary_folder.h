// A temporary folder that its owner deletes.
#pragma once

#include <filesystem>
#include <string_view>
#include <utility>

#include "core/error.h"

namespace redzone {

// Created in the system's folder for temporary files; removed with its contents by the destructor.
class TemporaryFolder {
 public:
  // `purpose` becomes part of the name. A harness error if no folder can be created.
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

// A job's folder on the local disk of its node.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "core/error.h"

namespace redzone::fleet {

// Empty when it is made, whatever an attempt that was killed on this machine has left there, and
// gone with this.
class LocalFolder {
 public:
  static Result<LocalFolder> make(std::filesystem::path path) {
    std::error_code error;
    std::filesystem::remove_all(path, error);
    std::filesystem::create_directories(path, error);
    if (error) return harness_error(fmt::format("{}: {}", path.string(), error.message()));
    return LocalFolder(std::move(path));
  }
  LocalFolder(LocalFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  LocalFolder& operator=(LocalFolder&&) = delete;
  ~LocalFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }

  std::filesystem::path operator/(const char* name) const { return path_ / name; }

 private:
  explicit LocalFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace redzone::fleet

// A job's folder on the local disk of its node.
#pragma once

#include <filesystem>
#include <string>
#include <utility>

#include "core/error.h"

namespace redzone::fleet {

// Empty when it is made, for this user alone, and gone with this unless it is kept.
class LocalFolder {
 public:
  // PARENT/NAME-NUMBER, of the attempt of that number. What earlier attempts that were killed on
  // this machine left there is removed. One that belongs to somebody else is a usage error.
  static Result<LocalFolder> make(const std::filesystem::path& parent, const std::string& name,
                                  int number);
  LocalFolder(LocalFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  LocalFolder& operator=(LocalFolder&&) = delete;
  ~LocalFolder();

  std::filesystem::path operator/(const char* name) const { return path_ / name; }
  // Leaves it for a person, where no later attempt removes it, and returns its path.
  std::filesystem::path keep();

 private:
  explicit LocalFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace redzone::fleet

// A job's folder on the local disk of its node.
#pragma once

#include <filesystem>
#include <string>
#include <utility>

#include "core/error.h"

namespace redzone::fleet {

// Empty when created, accessible only to this user, and removed by the destructor unless kept.
class LocalFolder {
 public:
  // Creates PARENT/NAME-NUMBER for the attempt with that number. Removes the folders of earlier
  // attempts that were killed on this machine. A folder of another user is a usage error.
  static Result<LocalFolder> make(const std::filesystem::path& parent, const std::string& name,
                                  int number);
  LocalFolder(LocalFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  LocalFolder& operator=(LocalFolder&&) = delete;
  ~LocalFolder();

  std::filesystem::path operator/(const char* name) const { return path_ / name; }
  // Keeps the folder for a person, under a name that no later attempt removes, and returns its
  // path.
  std::filesystem::path keep();

 private:
  explicit LocalFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace redzone::fleet

// One job at a time on a store. SQLite's own locks last as long as a write; this one as long as the
// job, and no longer than its process: the kernel gives it back.
#pragma once

#include <filesystem>

#include "core/error.h"

namespace redzone::store {

class FileLock {
 public:
  // Of `store`, in a file beside what it is (see real_file()), STORE-lock, which stays. A
  // harness error names the process that has it; `job` is what it is called, "a nightly job".
  static Result<FileLock> take(const std::filesystem::path& store, std::string_view job);

  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock();

 private:
  explicit FileLock(int fd) : fd_(fd) {}
  int fd_;  // -1: moved from
};

}  // namespace redzone::store

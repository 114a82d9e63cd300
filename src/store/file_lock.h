// One job at a time on a store. SQLite's own locks last for one write; this lock lasts for a whole
// job. The kernel releases it when the process ends.
#pragma once

#include <filesystem>

#include "core/error.h"

namespace redzone::store {

class FileLock {
 public:
  // Locks `store` through the file STORE-lock beside the resolved file (see real_file()); the lock
  // file is never removed. A harness error names the process that holds the lock; `job` ("a nightly
  // job") is part of the message. A usage error, which changes nothing, if STORE-lock is a link or
  // not a lock.
  static Result<FileLock> take(const std::filesystem::path& store, std::string_view job);

  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock();

 private:
  explicit FileLock(int fd) : fd_(fd) {}
  int fd_;  // -1: moved from
};

}  // namespace redzone::store

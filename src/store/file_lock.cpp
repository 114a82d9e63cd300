#include "store/file_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "core/finding.h"
#include "core/utc.h"
#include "store/real_file.h"

namespace redzone::store {
namespace {

// "process 123 since 2025-01-31T02:00:00Z", as the holder wrote it.
std::string read_holder(int fd) {
  char text[128];
  const ssize_t bytes = ::pread(fd, text, sizeof text, 0);
  return bytes > 0 ? std::string(text, static_cast<std::size_t>(bytes)) : "an unknown process";
}

void write_holder(int fd) {
  const std::string text = fmt::format("process {} since {}", ::getpid(), utc_now());
  // Informational only: on a full disk the lock is still taken.
  if (::ftruncate(fd, 0) == 0) (void)!::pwrite(fd, text.data(), text.size(), 0);
}

}  // namespace

Result<FileLock> FileLock::take(const std::filesystem::path& store, std::string_view job) {
  const std::string file = real_file(store).string() + "-lock";
  const int fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return usage_error(fmt::format("{}: {}", file, std::strerror(errno)));
  FileLock lock(fd);
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    const int error = errno;
    if (error == EWOULDBLOCK)
      return harness_error(fmt::format("{}: {} is using it ({}); wait for it, or name another file",
                                       store.string(), job, read_holder(fd)));
    return harness_error(fmt::format("{}: cannot be locked: {}", file, std::strerror(error)));
  }
  write_holder(fd);
  return lock;
}

FileLock::FileLock(FileLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

FileLock::~FileLock() {
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace redzone::store

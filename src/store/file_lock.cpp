#include "store/file_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/terminal.h"
#include "core/utc.h"
#include "store/real_file.h"

namespace redzone::store {
namespace {

constexpr std::string_view kHolder = "process ";
constexpr std::size_t kMostBytes = 128;  // maximum size of the holder's text

// Returns the holder's text: "process 123 since 2025-01-31T02:00:00Z".
std::string read_holder(int fd) {
  char text[kMostBytes];
  const ssize_t bytes = ::pread(fd, text, sizeof text, 0);
  return bytes > 0 ? std::string(text, static_cast<std::size_t>(bytes)) : "";
}

// Why this file is not the lock of a store, or "". A file with the name of the lock may be a user's
// file, which must not be written to.
std::string not_a_lock(int fd) {
  struct stat status = {};
  if (::fstat(fd, &status) != 0) return std::strerror(errno);
  if (!S_ISREG(status.st_mode)) return "is not a regular file";
  const std::string holder = read_holder(fd);
  const bool cut_off = std::ranges::all_of(holder, [](char c) { return c == '\0'; });  // by a crash
  const bool ours = holder.starts_with(kHolder) && holder.find(" since ") != holder.npos;
  return std::cmp_less_equal(status.st_size, kMostBytes) && (cut_off || ours)
             ? ""
             : "is not the lock of a store";
}

void write_holder(int fd) {
  const std::string text = fmt::format("{}{} since {}", kHolder, ::getpid(), utc_now());
  // Informational only: on a full disk the lock is still taken.
  if (::ftruncate(fd, 0) == 0) (void)!::pwrite(fd, text.data(), text.size(), 0);
}

}  // namespace

Result<FileLock> FileLock::take(const std::filesystem::path& store, std::string_view job) {
  const std::string file = real_file(store).string() + "-lock";
  const int fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644);
  if (fd < 0)
    return usage_error(fmt::format(
        "{}: {}", file,
        errno == ELOOP ? "is a symbolic link, not the lock of a store" : std::strerror(errno)));
  FileLock lock(fd);
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    const int error = errno;
    if (error == EWOULDBLOCK) {
      const std::string holder = read_holder(fd);
      return harness_error(fmt::format("{}: {} is using it ({}); wait for it, or name another file",
                                       store.string(), job,
                                       holder.empty() ? "an unknown process" : printable(holder)));
    }
    return harness_error(fmt::format("{}: cannot be locked: {}", file, std::strerror(error)));
  }
  // Checked under the lock, when no other process writes to the file.
  if (const std::string why = not_a_lock(fd); !why.empty())
    return usage_error(fmt::format("{}: {}: move it away, or name another store", file, why));
  write_holder(fd);
  return lock;
}

FileLock::FileLock(FileLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

FileLock::~FileLock() {
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace redzone::store

#include "sanitizer/log_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace redzone::sanitizer {

LogFile::~LogFile() {
  if (fd_ >= 0) ::close(fd_);
}

void LogFile::fail(std::string what) {
  if (problem_.empty())
    problem_ = fmt::format("compute-sanitizer's log {} {}", path_.string(), what);
}

std::vector<SanitizerRecord> LogFile::read(bool open) {
  if (fd_ < 0) fd_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat now = {};
  if (fd_ < 0 || ::fstat(fd_, &now) != 0) {
    fail(fmt::format("cannot be read: {}", std::strerror(errno)));
    return log_.take(open);
  }
  auto size = static_cast<std::size_t>(now.st_size);
  if (size < offset_) fail("is shorter than it was");
  if (size > offset_ && size - offset_ > kMostBytes) {
    fail(fmt::format("grew by {} bytes in one trial", size - offset_));
    size = offset_ + kMostBytes;
  }
  char chunk[64 * 1024];
  while (offset_ < size) {
    const ssize_t n =
        ::pread(fd_, chunk, std::min(sizeof chunk, size - offset_), static_cast<off_t>(offset_));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      fail(n == 0 ? "ended early" : fmt::format("cannot be read: {}", std::strerror(errno)));
      break;
    }
    log_.append({chunk, static_cast<std::size_t>(n)});
    offset_ += static_cast<std::size_t>(n);
  }
  return log_.take(open);
}

std::string LogFile::problem() const {
  if (!problem_.empty()) return problem_;
  if (!log_.problem().empty()) return "compute-sanitizer: " + log_.problem();
  return log_.began() ? "" : "compute-sanitizer did not begin its log: it is not running";
}

}  // namespace redzone::sanitizer

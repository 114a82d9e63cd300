#include "interpose/origin_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "interpose/kept_variables.h"

namespace redzone::interpose {
namespace {

// A file that is written sequentially.
class Out {
 public:
  explicit Out(const char* file)
      : fd_(::open(file, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600)) {}
  ~Out() {
    if (fd_ >= 0) ::close(fd_);
  }
  Out(const Out&) = delete;
  Out& operator=(const Out&) = delete;

  bool is_open() const { return fd_ >= 0; }
  void add(const char* bytes, std::size_t n) const {
    while (n > 0) {
      const ssize_t written = ::write(fd_, bytes, n);
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return;
      bytes += written;
      n -= static_cast<std::size_t>(written);
    }
  }
  void end_text() const { add("", 1); }

 private:
  int fd_;
};

}  // namespace

void write_origin_file(const char* file) {
  const Out out(file);
  if (!out.is_open()) return;
  char part[4096];
  if (::getcwd(part, sizeof part) != nullptr) out.add(part, std::strlen(part));
  out.end_text();
  for (const std::string_view name : kKeptVariables)
    if (const char* const value = std::getenv(name.data())) {
      out.add(name.data(), name.size());
      out.add("=", 1);
      out.add(value, std::strlen(value));
      out.end_text();
    }
  out.end_text();
  const int arguments = ::open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  for (ssize_t n = 0; arguments >= 0 && (n = ::read(arguments, part, sizeof part)) > 0;)
    out.add(part, static_cast<std::size_t>(n));
  if (arguments >= 0) ::close(arguments);
}

bool read_small_file(const char* file, char* text, std::size_t bytes) {
  const int fd = ::open(file, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const ssize_t got = ::read(fd, text, bytes);
  ::close(fd);
  if (got < 0 || static_cast<std::size_t>(got) >= bytes) return false;
  text[got] = '\0';
  return true;
}

}  // namespace redzone::interpose

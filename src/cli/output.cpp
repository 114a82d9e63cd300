#include "cli/output.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>

#include "core/terminal.h"

namespace redzone::cli {
namespace {

// Returns 0, or errno.
int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n >= 0) {
      text.remove_prefix(static_cast<std::size_t>(n));
    } else if (errno == EAGAIN) {  // another process that shares the descriptor has made it
                                   // non-blocking
      pollfd entry{fd, POLLOUT, 0};
      ::poll(&entry, 1, -1);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

void write_note(const std::string& text) {
  write_all(STDERR_FILENO, text);
}

}  // namespace

void Results::print(std::string_view text) {
  if (problem_ == 0) problem_ = write_all(fd_, terminal_text(text));
}

void print_note(std::string_view line) {
  write_note(terminal_text(line) + (line.ends_with('\n') ? "" : "\n"));
}

void rewrite_line(std::string_view line) {
  write_note("\r" + printable(line) + "\033[K");
}

void clear_line() {
  write_note("\r\033[K");
}

Result<void> check_writable(const std::string& path) {
  if (!std::ofstream(path, std::ios::app)) return usage_error(path + ": cannot be written");
  return {};
}

}  // namespace redzone::cli

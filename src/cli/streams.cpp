#include "cli/streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <initializer_list>

namespace redzone::cli {

void open_standard_descriptors() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(fd, F_GETFD) < 0 && errno == EBADF) {
      // open() returns the lowest free number, which is `fd`.
      [[maybe_unused]] const int opened = ::open("/dev/null", O_RDWR);
    }
}

int take_stdout() {
  const int results = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (results >= 0) ::dup2(STDERR_FILENO, STDOUT_FILENO);
  return results;
}

}  // namespace redzone::cli

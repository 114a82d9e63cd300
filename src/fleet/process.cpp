#include "fleet/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "core/child_process.h"
#include "core/fd.h"

namespace redzone::fleet {

int exit_code_of_wait(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

Result<Output> run_program(const std::vector<std::string>& words) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return harness_error(fmt::format("{}: {}", words[0], std::strerror(errno)));
  const Fd read(ends[0]);
  Fd write(ends[1]);
  RZ_TRY_ASSIGN(auto child, ChildProcess::start({.words = words, .output = write.get()}));
  write.reset();
  Output output;
  std::array<char, 4096> part;
  for (;;) {
    const ssize_t n = ::read(read.get(), part.data(), part.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    output.text.append(part.data(), static_cast<std::size_t>(n));
  }
  output.status = exit_code_of_wait(child.wait());
  return output;
}

}  // namespace redzone::fleet

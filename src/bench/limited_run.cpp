#include "bench/limited_run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "core/child_process.h"
#include "core/fd.h"

namespace redzone::bench {
namespace {

constexpr int kPollMs = 100;

// Reads the available output; false at its end.
bool read_some(int fd, std::string& out) {
  std::array<char, 4096> part;
  const ssize_t n = ::read(fd, part.data(), part.size());
  if (n > 0) out.append(part.data(), static_cast<std::size_t>(n));
  return n > 0 || (n < 0 && errno == EINTR);
}

}  // namespace

Result<LimitedRun> run_limited(const std::vector<std::string>& words,
                               std::chrono::milliseconds limit, const std::function<bool()>& stop) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return harness_error(fmt::format("{}: {}", words.at(0), std::strerror(errno)));
  const Fd read_end(ends[0]);
  Fd write_end(ends[1]);
  RZ_TRY_ASSIGN(auto child, ChildProcess::start({.words = words, .output = write_end.get()}));
  write_end.reset();
  LimitedRun out;
  const auto until = std::chrono::steady_clock::now() + limit;
  // The program may close its output and continue, and its child processes may keep the output
  // open.
  pollfd fd{read_end.get(), POLLIN, 0};
  while (!child.ended()) {
    if (std::chrono::steady_clock::now() >= until || (stop && stop())) {
      out.over_time = true;
      child.signal(SIGKILL);
      break;
    }
    // poll() ignores -1, so a closed output is not waited for.
    if (::poll(&fd, 1, kPollMs) > 0 && !read_some(read_end.get(), out.output)) fd.fd = -1;
  }
  const int status = child.wait();
  while (fd.fd >= 0 && ::poll(&fd, 1, 0) > 0 && read_some(read_end.get(), out.output)) {
  }
  out.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return out;
}

}  // namespace redzone::bench

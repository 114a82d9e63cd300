#include "bench/line_process.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>

#include "exec/output_tail.h"

namespace redzone::bench {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

bool send_line(int fd, std::string line) {
  line += '\n';
  for (std::size_t sent = 0; sent < line.size();) {
    const ssize_t n = ::send(fd, line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
    if (n < 0 && errno != EINTR) return false;
    if (n > 0) sent += static_cast<std::size_t>(n);
  }
  return true;
}

std::optional<std::string> take_line(std::string& unread) {
  const auto end = unread.find('\n');
  if (end == std::string::npos) return std::nullopt;
  std::string line = unread.substr(0, end);
  unread.erase(0, end + 1);
  return line;
}

bool receive(int fd, std::string& unread) {
  char chunk[4096];
  const ssize_t n = ::recv(fd, chunk, sizeof chunk, 0);
  if (n > 0) unread.append(chunk, static_cast<std::size_t>(n));
  return n > 0 || (n < 0 && errno == EINTR);
}

Result<LineProcess> LineProcess::start(const exec::WorkerCommand& command) {
  RZ_TRY_ASSIGN(auto process, exec::WorkerProcess::start(command));
  return LineProcess(std::move(process));
}

Result<std::string> LineProcess::read_line(milliseconds deadline) {
  const auto until = Clock::now() + deadline;
  exec::OutputTail output;
  for (;;) {
    if (auto line = take_line(unread_)) return *line;
    const auto left = std::chrono::duration_cast<milliseconds>(until - Clock::now());
    if (left.count() <= 0)
      return harness_error(
          fmt::format("the bare loop gave no answer within {} ms", deadline.count()));
    pollfd fds[] = {{socket_.get(), POLLIN, 0}, {process_.output_fd(), POLLIN, 0}};
    ::poll(fds, std::size(fds), static_cast<int>(left.count()));
    // Read the output in case the process ends, and to keep the pipe from filling up.
    if (fds[1].revents != 0 && !output.drain(process_.output_fd())) process_.close_output();
    if (fds[0].revents == 0 || receive(socket_.get(), unread_)) continue;
    if (process_.output_fd() >= 0) output.drain(process_.output_fd());
    return harness_error("the bare loop ended: " + output.text());
  }
}

}  // namespace redzone::bench

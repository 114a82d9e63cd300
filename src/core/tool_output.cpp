#include "core/tool_output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace redzone {

Result<ToolOutput> ToolOutput::start(std::vector<std::string> words, ToolLimits limits) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return harness_error(fmt::format("{}: {}", words[0], std::strerror(errno)));
  Fd read(ends[0]);
  const Fd write(ends[1]);
  const Fd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!null || ::fcntl(read.get(), F_SETFL, O_NONBLOCK) != 0)
    return harness_error(fmt::format("{}: {}", words[0], std::strerror(errno)));
  RZ_TRY_ASSIGN(
      auto child,
      ChildProcess::start({.words = std::move(words), .input = null.get(), .output = write.get()}));
  return ToolOutput(std::move(child), std::move(read), limits);
}

ToolOutput::ToolOutput(ChildProcess child, Fd output, ToolLimits limits)
    : child_(std::move(child)),
      output_(std::move(output)),
      end_(Clock::now() + limits.time),
      most_bytes_(limits.bytes) {}

bool ToolOutput::is_complete() {
  std::array<char, 4096> part;
  while (text_.size() < most_bytes_) {
    const std::size_t room = std::min(part.size(), most_bytes_ - text_.size());
    const ssize_t n = ::read(output_.get(), part.data(), room);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return over_time_ = Clock::now() >= end_;
    if (n <= 0) return true;
    text_.append(part.data(), static_cast<std::size_t>(n));
  }
  return true;
}

void ToolOutput::wait(const std::function<bool()>& stop) {
  constexpr int kAskEveryMs = 10;
  while (!is_complete() && !(stop && stop())) {
    pollfd entry{output_.get(), POLLIN, 0};
    ::poll(&entry, 1, kAskEveryMs);
  }
}

}  // namespace redzone

#include "exec/output_tail.h"

#include <unistd.h>

#include <cerrno>

namespace redzone::exec {

bool OutputTail::drain(int fd) {
  char chunk[64 * 1024];
  constexpr int kMostChunks = 16;
  for (int i = 0; i < kMostChunks; ++i) {
    const ssize_t n = ::read(fd, chunk, sizeof chunk);
    if (n > 0)
      append(chunk, static_cast<std::size_t>(n));
    else if (n == 0)
      return false;
    else if (errno != EINTR)
      return errno == EAGAIN;
  }
  return true;
}

void OutputTail::append(const char* data, std::size_t n) {
  total_bytes_ += n;
  if (n >= kKeptBytes) {
    kept_.assign(data + (n - kKeptBytes), kKeptBytes);
    return;
  }
  kept_.append(data, n);
  if (kept_.size() > 2 * kKeptBytes) kept_.erase(0, kept_.size() - kKeptBytes);
}

std::string OutputTail::text(std::size_t most_bytes) const {
  std::size_t begin = kept_.size() > most_bytes ? kept_.size() - most_bytes : 0;
  if (begin > 0) {
    const std::size_t line = kept_.find('\n', begin);
    if (line != std::string::npos && line + 1 < kept_.size()) begin = line + 1;
  }
  std::size_t end = kept_.size();
  while (end > begin && (kept_[end - 1] == '\n' || kept_[end - 1] == ' ')) --end;
  std::string text = kept_.substr(begin, end - begin);
  for (char& c : text)
    if ((c < ' ' && c != '\n' && c != '\t') || c > '~') c = '?';
  return text;
}

}  // namespace redzone::exec

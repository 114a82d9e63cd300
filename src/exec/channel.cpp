#include "exec/channel.h"

#include <sys/socket.h>

#include <cerrno>

namespace redzone::exec {

void Channel::send(std::string frame) {
  if (sent_ == unsent_.size()) {
    unsent_ = std::move(frame);
    sent_ = 0;
  } else {
    unsent_ += frame;
  }
  flush();
}

void Channel::flush() {
  while (wants_write()) {
    const ssize_t n = ::send(socket_.get(), unsent_.data() + sent_, unsent_.size() - sent_,
                             MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n >= 0) {
      sent_ += static_cast<std::size_t>(n);
    } else if (errno != EINTR) {
      // receive() detects that the peer is gone, after reading what it sent before.
      if (errno != EAGAIN) sent_ = unsent_.size();
      return;
    }
  }
}

bool Channel::receive() {
  constexpr std::size_t kChunkBytes = 64 * 1024;
  constexpr int kMostChunks = 16;
  char chunk[kChunkBytes];
  bool any = false;
  for (int i = 0; i < kMostChunks && !closed_; ++i) {
    const ssize_t n = ::recv(socket_.get(), chunk, sizeof chunk, MSG_DONTWAIT);
    if (n > 0) {
      any = true;
      reader_.append(chunk, static_cast<std::size_t>(n));
      if (static_cast<std::size_t>(n) < sizeof chunk) break;
    } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
      closed_ = true;
    } else if (errno == EAGAIN) {
      break;
    }
  }
  return any;
}

}  // namespace redzone::exec

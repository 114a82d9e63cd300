// The driver's end of the socket to one worker. Never blocks.
#pragma once

#include <string>

#include "core/fd.h"
#include "exec/protocol.h"

namespace redzone::exec {

class Channel {
 public:
  explicit Channel(Fd socket) : socket_(std::move(socket)) {}

  int fd() const { return socket_.get(); }
  // Queues a frame and writes what the socket takes now.
  void send(std::string frame);
  bool wants_write() const { return !closed_ && sent_ < unsent_.size(); }
  void flush();

  // Reads the available bytes, up to a bound that keeps one worker from starving the others. True
  // if bytes arrived.
  bool receive();
  // True if the peer is gone or has closed its end.
  bool closed() const { return closed_; }
  bool mid_frame() const { return reader_.mid_frame(); }
  Result<std::optional<Message>> next() { return reader_.next(); }

 private:
  Fd socket_;
  FrameReader reader_;
  std::string unsent_;
  std::size_t sent_ = 0;
  bool closed_ = false;
};

}  // namespace redzone::exec

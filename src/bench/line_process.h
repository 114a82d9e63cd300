// A process of the benchmark that communicates in lines over its socket.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "core/fd.h"
#include "exec/worker_process.h"

namespace redzone::bench {

// Adds the newline. Returns false if the other end is gone.
bool send_line(int fd, std::string line);
// Removes the first line of `unread` and returns it; nullopt if there is no complete line.
std::optional<std::string> take_line(std::string& unread);
// Appends the received bytes to `unread`. Returns false if the other end is gone.
bool receive(int fd, std::string& unread);

class LineProcess {
 public:
  static Result<LineProcess> start(const exec::WorkerCommand& command);

  bool send(std::string line) { return send_line(socket_.get(), std::move(line)); }
  // Returns a harness error with the process's output if the process has ended, or if nothing
  // arrived in time.
  Result<std::string> read_line(std::chrono::milliseconds deadline);

 private:
  explicit LineProcess(exec::WorkerProcess process)
      : process_(std::move(process)), socket_(process_.take_socket()) {}

  exec::WorkerProcess process_;
  Fd socket_;
  std::string unread_;
};

}  // namespace redzone::bench

// One worker process, from its parent's side: starts, watches, ends and reaps it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/fd.h"
#include "core/processor_wait.h"
#include "exec/fault_attribution.h"
#include "exec/shared_box.h"

namespace redzone::exec {

// The command to run. PATH is not searched; "--socket-fd N --black-box-fd M" is appended.
struct WorkerCommand {
  std::vector<std::string> argv;
  // "NAME=value": added to the variables of this process, or replacing those of the same name.
  std::vector<std::string> environment = {};
};

// The descriptors that a worker inherits, as numbers of this process.
struct ChildEnds {
  int socket = -1, black_box = -1, output = -1;
};

class Zygote;

// The process leads its own process group, so that Ctrl-C on the terminal does not reach it. The
// kernel kills it when the thread that started it ends: start workers from the main thread. The
// standard descriptors of this process must be open, because a child replaces descriptors 0, 1 and
// 2. The child inherits the socket, the black box and an output pipe, and no other descriptor. The
// write end of the pipe does not block: output that does not fit is dropped, and the worker goes
// on.
class WorkerProcess {
 public:
  static Result<WorkerProcess> start(const WorkerCommand& command) {
    return start(command, nullptr);
  }
  // Forks the zygote instead if it can be forked now.
  static Result<WorkerProcess> start(const WorkerCommand& command, Zygote* zygote);

  WorkerProcess(WorkerProcess&& other) noexcept;
  WorkerProcess& operator=(WorkerProcess&&) = delete;
  // Kills the process if it still runs and waits for its end, for a bounded time.
  ~WorkerProcess();

  pid_t pid() const { return pid_; }
  // Readable once the process has ended; -1 if the kernel has no such descriptor.
  int exit_fd() const { return exit_fd_.get(); }
  int output_fd() const { return output_.get(); }
  void close_output() { output_.reset(); }
  Fd take_socket() { return std::move(socket_); }
  device::BlackBox black_box() const { return box_.snapshot(); }

  // See processor_wait.h.
  std::chrono::nanoseconds waited_for_processor() const {
    return redzone::waited_for_processor(pid_);
  }

  // How the process ended, or nullopt if it still runs; never blocks. Kills the rest of its group
  // and reaps it.
  std::optional<Exit> poll_exit();
  // Sends a signal to the whole group; does nothing after the process has ended.
  void signal_group(int signal) const;

 private:
  WorkerProcess(SharedBox box, Fd socket, Fd output);

  SharedBox box_;
  Fd socket_, output_, exit_fd_;
  std::optional<std::uint64_t> oom_kills_before_;  // when the process started
  pid_t pid_ = -1;
  std::optional<Exit> exit_;
};

}  // namespace redzone::exec

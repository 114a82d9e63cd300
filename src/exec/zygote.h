// A worker process that has loaded its targets and forks others, from the driver's side.
//
// A finding takes hundreds of fresh workers. On two cores a worker of the host device takes 11 ms
// of processor time to start as a program, most of it for loading and relocating the program and
// its plugins. In a fork this work is already done.
#pragma once

#include <sys/types.h>

#include <optional>

#include "core/error.h"
#include "core/fd.h"
#include "exec/worker_process.h"

namespace redzone::exec {

class Zygote {
 public:
  // Starts a worker's program with "--zygote" (serve_forks()) without waiting for it.
  static Result<Zygote> start(WorkerCommand command);

  // True if the zygote has loaded its targets and can be forked. Does not wait.
  bool is_ready();
  // Forks the zygote. The fork is a child of this process, like any other worker, and inherits the
  // descriptors. Requires is_ready(). Waits at most one second for the answer, which normally takes
  // a millisecond; nullopt if there is no valid answer, after which the zygote is not used any
  // more.
  std::optional<pid_t> fork(const ChildEnds& ends);

 private:
  explicit Zygote(WorkerProcess process)
      : process_(std::move(process)), socket_(process_.take_socket()) {}
  bool is_child(pid_t pid) const;
  void give_up(const char* why);

  WorkerProcess process_;
  Fd socket_;  // closed once the zygote is not used any more
  bool ready_ = false;
};

}  // namespace redzone::exec

// A worker process that has loaded its targets and forks others, from the driver's side.
//
// A finding takes hundreds of fresh workers. On two cores a worker of the host device takes 11 ms
// of processor time to start as a program, of which most is spent on loading and relocating itself
// and its plugins. A fork has all that.
#pragma once

#include <sys/types.h>

#include <optional>

#include "core/error.h"
#include "core/fd.h"
#include "exec/worker_process.h"

namespace redzone::exec {

class Zygote {
 public:
  // Starts a worker's program with "--zygote" (serve_forks()), and does not wait for it.
  static Result<Zygote> start(WorkerCommand command);

  // Whether it has loaded its targets, and what it has loaded can be forked. Does not wait.
  bool is_ready();
  // A fork of it, a child of this process as any other, that has the descriptors as its own.
  // Requires that it is ready. Waits for its answer, which takes a millisecond, for at most one
  // second; nullopt if there is none, after which the zygote is given up.
  std::optional<pid_t> fork(const ChildEnds& ends);

 private:
  explicit Zygote(WorkerProcess process)
      : process_(std::move(process)), socket_(process_.take_socket()) {}
  bool is_child(pid_t pid) const;
  void give_up(const char* why);

  WorkerProcess process_;
  Fd socket_;  // closed once it is given up
  bool ready_ = false;
};

}  // namespace redzone::exec

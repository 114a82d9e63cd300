// Interleaves tasks that need trials: while one task waits for its trials, the other tasks and the
// screen go on.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <limits>
#include <list>
#include <memory>
#include <span>
#include <vector>

#include "campaign/coroutine.h"
#include "exec/executor.h"

namespace redzone::campaign {

class Tasks {
 public:
  // Priority of a task's trials; the lowest goes first. A task of a later stage runs only while
  // those of earlier stages leave workers idle.
  struct Rank {
    int stage = 0;
    int level = 0;  // within the stage
    double due = 0;
    std::uint64_t order = 0;
    std::partial_ordering operator<=>(const Rank&) const = default;
  };

  struct Task {
    // The work; the task ends when it returns. Runs on a stack of its own and may wait only through
    // the runner.
    std::function<void(exec::Runner&)> body;
    std::function<Rank()> rank;
    // Called after each batch of the task's trials, with the jobs and results of that batch.
    std::function<void(std::span<const exec::Job>, std::span<const exec::JobResult>)> ran;
    std::function<void()> ended;  // called on the stack of advance()'s caller; may add tasks
  };

  // `executor` outlives this object. A task that wants more trials than `most_together` is
  // submitted in batches of that many and waits for its turn again after each, so that it does not
  // keep other tasks from the workers until its last trial is done.
  explicit Tasks(exec::Executor& executor,
                 std::size_t most_together = std::numeric_limits<std::size_t>::max());
  // Unwinds unfinished tasks without calling their callbacks.
  ~Tasks();
  Tasks(const Tasks&) = delete;
  Tasks& operator=(const Tasks&) = delete;

  void add(Task task);
  // Resumes tasks whose trials are done until all tasks wait; submits as many trials as there will
  // soon be workers for. Throws what a task throws.
  void advance();

  // From now on, tasks that wait for workers get no workers: their trials end at once as worker
  // errors.
  void submit_no_more() { closed_ = true; }

  std::size_t size() const { return tasks_.size(); }
  // True if there are tasks and all of them run or wait for trials that need the device alone: no
  // other trial may then be submitted.
  bool want_quiet() const;

 private:
  class Running;

  bool go_on();
  void submit();
  bool is_quiet() const;

  exec::Executor& executor_;
  std::size_t most_together_;
  bool closed_ = false;
  std::list<std::unique_ptr<Running>> tasks_;
};

}  // namespace redzone::campaign

// Work that asks for trials and waits for them, many pieces side by side: while one waits, the
// others and the screen go on.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <span>
#include <vector>

#include "campaign/coroutine.h"
#include "exec/executor.h"

namespace redzone::campaign {

class Tasks {
 public:
  // Whose trials come next: the lowest. A task of a later stage runs only where those of earlier
  // ones leave workers idle.
  struct Rank {
    int stage = 0;
    double due = 0;
    std::uint64_t order = 0;
    std::partial_ordering operator<=>(const Rank&) const = default;
  };

  struct Task {
    // Ends when the work is done. It runs on a stack of its own, and waits by the runner alone.
    std::function<void(exec::Runner&)> body;
    std::function<Rank()> rank;
    // Told of each batch of trials that was run for it.
    std::function<void(std::span<const exec::Job>, std::span<const exec::JobResult>)> ran;
    std::function<void()> ended;  // on the stack of who calls advance(); may add tasks
  };

  // `executor` outlives this.
  explicit Tasks(exec::Executor& executor);
  // Tasks that have not ended are unwound; nothing more is told of them.
  ~Tasks();
  Tasks(const Tasks&) = delete;
  Tasks& operator=(const Tasks&) = delete;

  void add(Task task);
  // Lets those go on whose trials are done, until all wait; submits as many trials as there may
  // soon be workers for. Throws what a task throws.
  void advance();

  // From now on what waits for workers gets none: its trials end at once, with worker errors.
  void submit_no_more() { closed_ = true; }

  std::size_t size() const { return tasks_.size(); }
  // All that is left are trials that want the device alone, or have it: nobody else is to submit
  // any.
  bool want_quiet() const;

 private:
  class Running;

  bool go_on();
  void submit();
  bool is_quiet() const;

  exec::Executor& executor_;
  bool closed_ = false;
  std::list<std::unique_ptr<Running>> tasks_;
};

}  // namespace redzone::campaign

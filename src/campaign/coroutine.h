// A function on a stack of its own: it can stop in its midst and go on later. Of one thread;
// nothing runs at the same time.
#pragma once

#include <exception>
#include <functional>
#include <memory>

namespace redzone::campaign {

class Coroutine {
 public:
  // Nothing runs until resume().
  explicit Coroutine(std::function<void()> body);
  // A body that has not ended is unwound: its locals are destroyed.
  ~Coroutine();
  Coroutine(const Coroutine&) = delete;
  Coroutine& operator=(const Coroutine&) = delete;

  // Runs the body until it suspends or ends. Throws what it threw.
  void resume();
  // In the body, outside of destructors and of handlers of exceptions.
  void suspend();
  bool ended() const;

 private:
  class Stack;
  std::unique_ptr<Stack> stack_;
};

}  // namespace redzone::campaign

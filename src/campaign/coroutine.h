// A function on a stack of its own that can suspend and resume. Single-threaded: it never runs
// concurrently with its caller.
#pragma once

#include <exception>
#include <functional>
#include <memory>

namespace redzone::campaign {

class Coroutine {
 public:
  // Does not run the body until resume().
  explicit Coroutine(std::function<void()> body);
  // If the body has not ended, unwinds it: its locals are destroyed.
  ~Coroutine();
  Coroutine(const Coroutine&) = delete;
  Coroutine& operator=(const Coroutine&) = delete;

  // Runs the body until it suspends or ends. Rethrows the body's exception.
  void resume();
  // Call inside the body, outside destructors and exception handlers.
  void suspend();
  bool ended() const;

 private:
  class Stack;
  std::unique_ptr<Stack> stack_;
};

}  // namespace redzone::campaign

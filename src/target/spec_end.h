// Tells which function of a spec ends the process: by exit(), or by a signal of its own code, such
// as a division by 0 or a recursion without an end. The functions run in the driver, which would
// otherwise end without a word, or with the exit code of a success.
//
// _exit() and SIGKILL cannot be told.
#pragma once

#include <csignal>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace redzone {

class SpecEnd {
 public:
  // `running`: the function that runs now ("target 't': the work function"); null if none does.
  // `end`: ends the process and says why. Both are called in handlers of exit() and of signals, in
  // the process that has made this object alone. A recursion without an end is told on the thread
  // that makes the object, which must outlive it. Does nothing while another object exists.
  SpecEnd(std::function<const std::string*()> running, std::function<void(const std::string&)> end);
  ~SpecEnd();
  SpecEnd(const SpecEnd&) = delete;
  SpecEnd& operator=(const SpecEnd&) = delete;

 private:
  bool tells_ = false;
  std::unique_ptr<std::byte[]> stack_;  // for handlers
  stack_t stack_before_ = {};
};

}  // namespace redzone

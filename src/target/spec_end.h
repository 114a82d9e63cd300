// Reports which function of a spec ends the process: by exit(), or by a signal that its code
// causes, such as a division by 0 or an endless recursion. The functions run in the driver, which
// would otherwise end without a message, or with the exit code of a success.
//
// _exit() and SIGKILL cannot be reported.
#pragma once

#include <csignal>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/signal_line.h"

namespace redzone {

class SpecEnd {
 public:
  // Ends the process and reports which function did what ("ended with SIGFPE").
  using End = std::function<void(std::string_view function, const SignalLine& what)>;

  // `running`: returns the running function ("target 't': the work function"), or null. Both are
  // called in handlers of exit() and of signals, so they take no memory and no locks, and only in
  // the process that created this object. An endless recursion is detected only on the thread that
  // creates the object; that thread must outlive the object. The object does nothing while another
  // one exists.
  SpecEnd(std::function<const std::string*()> running, End end);
  ~SpecEnd();
  SpecEnd(const SpecEnd&) = delete;
  SpecEnd& operator=(const SpecEnd&) = delete;

 private:
  bool tells_ = false;
  std::unique_ptr<std::byte[]> stack_;  // for signal handlers
  stack_t stack_before_ = {};
};

}  // namespace redzone

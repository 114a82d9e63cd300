// Tells which function of a spec ends the process: by exit(), or by a signal of its own code, such
// as a division by 0. The functions run in the driver, which would otherwise end without a word, or
// with the exit code of a success.
//
// _exit() and SIGKILL cannot be told.
#pragma once

#include <functional>
#include <string>

namespace redzone {

class SpecEnd {
 public:
  // `running`: the function that runs now ("target 't': the work function"); null if none does.
  // `end`: ends the process and says why. Both are called in handlers of exit() and of signals, in
  // the process that has made this object alone. Does nothing while another one exists.
  SpecEnd(std::function<const std::string*()> running, std::function<void(const std::string&)> end);
  ~SpecEnd();
  SpecEnd(const SpecEnd&) = delete;
  SpecEnd& operator=(const SpecEnd&) = delete;

 private:
  bool tells_ = false;
};

}  // namespace redzone

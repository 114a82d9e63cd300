// Runs a tool, such as a debugger, and reads what it prints.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "core/child_process.h"
#include "core/error.h"
#include "core/fd.h"

namespace redzone {

struct ToolLimits {
  std::chrono::milliseconds time;  // from the start
  std::size_t bytes;               // at most this much output is read
};

// The tool leads its own process group, so Ctrl-C at the terminal does not reach it. The group is
// killed when this object is destroyed, and not before.
class ToolOutput {
 public:
  // Starts the program `words`[0], searched for in PATH, with these arguments, an empty standard
  // input, and standard output and standard error read here. A harness error if it cannot be run.
  static Result<ToolOutput> start(std::vector<std::string> words, ToolLimits limits);

  // Reads what has been printed since the last call, without waiting. True if there is no more to
  // read: the tool has closed its output, or a limit is reached.
  bool is_complete();
  // Waits until it is complete, or until `stop`, which is called about every 10 ms, returns true.
  void wait(const std::function<bool()>& stop);

  const std::string& text() const { return text_; }
  // True if the tool had not closed its output at the end of the time.
  bool is_over_time() const { return over_time_; }

 private:
  using Clock = std::chrono::steady_clock;

  ToolOutput(ChildProcess child, Fd output, ToolLimits limits);

  ChildProcess child_;
  Fd output_;
  Clock::time_point end_;
  std::size_t most_bytes_;
  std::string text_;
  bool over_time_ = false;
};

}  // namespace redzone

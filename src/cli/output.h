// All output of commands goes through this file: control characters in text from targets, files and
// stores are escaped on a terminal (core/terminal.h).
#pragma once

#include <string>
#include <string_view>

#include "core/error.h"

namespace redzone::cli {

// Writes results to the original stdout (streams.h). A write error does not stop the command:
// problem() returns it, and the caller of the command checks it at the end.
class Results {
 public:
  // Does not own `fd`.
  explicit Results(int fd) : fd_(fd) {}
  Results(const Results&) = delete;
  Results& operator=(const Results&) = delete;

  // Writes `text`. After the first error, further text is discarded.
  void print(std::string_view text);
  // For a program that replaces this process.
  int descriptor() const { return fd_; }
  // errno of the first failed write, or 0. EPIPE: the reader has closed the pipe.
  int problem() const { return problem_; }

 private:
  int fd_;
  int problem_ = 0;
};

// Writes a line to stderr, for text that is not a result. Adds a newline if the text has none.
// Write errors are ignored.
void print_note(std::string_view line);

// A usage error unless the file can be written. Creates the file. Called before work starts whose
// result is written there.
Result<void> check_writable(const std::string& path);

// A status line on stderr: rewrite_line() replaces it, clear_line() removes it.
void rewrite_line(std::string_view line);
void clear_line();

}  // namespace redzone::cli

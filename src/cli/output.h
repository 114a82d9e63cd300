// All output of commands goes through here: control characters in text from targets, files and
// stores are escaped on a terminal (core/terminal.h).
#pragma once

#include <string>
#include <string_view>

#include "core/error.h"

namespace redzone::cli {

// Writes results to the original stdout (streams.h). A write error does not stop the command: it is
// kept in problem(), which main() checks when the command has ended.
class Results {
 public:
  // Does not own `fd`.
  explicit Results(int fd) : fd_(fd) {}
  Results(const Results&) = delete;
  Results& operator=(const Results&) = delete;

  // Writes `text`. After the first error nothing more is written.
  void print(std::string_view text);
  // For a program that takes the place of this one.
  int descriptor() const { return fd_; }
  // errno of the first failed write, or 0. EPIPE: the reader has closed the pipe.
  int problem() const { return problem_; }

 private:
  int fd_;
  int problem_ = 0;
};

// Writes a line to stderr, for what is not a result. Adds a newline if the text has none. Write
// errors are ignored.
void print_note(std::string_view line);

// A usage error unless the file can be written. Creates it. Called before anything runs whose
// result goes there.
Result<void> check_writable(const std::string& path);

// A status line on stderr: rewrite_line() replaces it, clear_line() removes it.
void rewrite_line(std::string_view line);
void clear_line();

}  // namespace redzone::cli

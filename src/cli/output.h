// All output of commands goes through here: control characters in text from targets, files and
// stores are escaped on a terminal (core/terminal.h).
#pragma once

#include <string_view>

namespace redzone::cli {

// Where results go: what stdout was (streams.h). What could not be written is remembered rather
// than told at once, so that a command does all else that it has to do; the one who runs it asks at
// its end.
class Results {
 public:
  // Writes to `fd`, which stays the caller's.
  explicit Results(int fd) : fd_(fd) {}
  Results(const Results&) = delete;
  Results& operator=(const Results&) = delete;

  // All of `text`, or what can be written of it. Nothing more is written after a failure.
  void print(std::string_view text);
  // errno of the write that failed; 0: all was written. EPIPE: nobody reads any more.
  int problem() const { return problem_; }

 private:
  int fd_;
  int problem_ = 0;
};

// To stderr: what is no result. Ends with a newline, also where the text has none. A note that
// cannot be written is dropped.
void print_note(std::string_view line);

// Rewrites one line on stderr. Clearing it leaves nothing behind.
void rewrite_line(std::string_view line);
void clear_line();

}  // namespace redzone::cli

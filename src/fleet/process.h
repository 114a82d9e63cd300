// Other programs: Slurm's commands, and the night of a shard.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"

namespace redzone::fleet {

struct Output {
  int status = 0;    // exit code, or 128 + signal
  std::string text;  // of standard output and standard error
};

// Runs the program, found by PATH, to its end. A harness error if it cannot be started.
Result<Output> run_program(const std::vector<std::string>& words);

// A program that runs beside this one, with the same output. The destructor waits for its end.
class Child {
 public:
  static Result<Child> start(const std::vector<std::string>& words);
  Child(Child&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}
  Child& operator=(Child&&) = delete;
  ~Child();

  // Its status as in Output, once it has ended.
  std::optional<int> ended();
  void signal(int number);

 private:
  explicit Child(pid_t pid) : pid_(pid) {}
  pid_t pid_;  // -1: ended, or moved from
};

}  // namespace redzone::fleet

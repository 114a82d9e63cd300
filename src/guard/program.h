// Determines whether a program can be guarded, and runs it with the library preloaded.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "core/error.h"
#include "guard/started.h"
#include "interpose/settings.h"

namespace redzone::guard {

// Exit codes of `env` and `timeout`, the convention of programs that run other programs.
inline constexpr int kOverTime = 124;
inline constexpr int kCannotGuard = 125;
inline constexpr int kNotExecutable = 126;
inline constexpr int kNotFound = 127;

// The reason why a program was not run.
struct Refusal {
  int exit_code = kCannotGuard;
  std::string why;  // one line
};

// Looks up argv[0] as execvp() does. Refuses a program that does not support preloading (statically
// linked, for another machine type, with the rights of another user), and a folder that does not
// exist. If `started` has no folder, the environment of this process applies, else that of
// `started`.
tl::expected<std::filesystem::path, Refusal> find_program(const Started& started);

// The program that runs the script; "python3" also for "#!/usr/bin/env python3"; "" if the file is
// not a script.
std::string interpreter_of(const std::filesystem::path& script);

// How a program ended.
struct Ended {
  int exit_code = 0;  // 128 + signal if a signal ended it, as in a shell
  int signal = 0;
  bool over_time = false;  // it was ended because the time limit was exceeded
  // The last terminating signal that this process received and forwarded, or that ended the reading
  // of core dumps; 0: none
  int passed_on = 0;
};

struct Launch {
  Started started;                // see find_program()
  std::filesystem::path program;  // result of find_program()
  std::filesystem::path library;  // the library to preload, through a link in `folder` if necessary
  std::filesystem::path folder;   // for the records; must exist
  interpose::Settings settings;
  // Added to the program's environment
  std::vector<std::pair<std::string, std::string>> environment;
  // File descriptors that the program gets as its output and error output
  int standard_output = 1, standard_error = 2;
  // The program gets SIGTERM after this time and is killed two seconds later.
  std::optional<std::chrono::milliseconds> limit = {};
  int standard_input = 0;  // file descriptor that the program gets as its input
};

// The value of a variable in the program's environment; "" if it is not set.
std::string variable_of(const Started& started, const char* name);

// The previous value of LD_PRELOAD; "" if it is not set. It is kept behind the library.
std::string foreign_preload(const Started& started);

// Runs the program to its end. Meanwhile forwards the signals that this process gets, except those
// of the terminal, which the program gets itself.
tl::expected<Ended, Refusal> run_program(Launch launch);

}  // namespace redzone::guard

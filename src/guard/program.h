// Finds out whether a program can be guarded, and runs it with the library preloaded.
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

// Exit codes of `env` and `timeout`, which a program that runs others has.
inline constexpr int kOverTime = 124;
inline constexpr int kCannotGuard = 125;
inline constexpr int kNotExecutable = 126;
inline constexpr int kNotFound = 127;

// Why the program was not run.
struct Refusal {
  int exit_code = kCannotGuard;
  std::string why;  // one line
};

// Looks argv[0] up as execvp() does. Refuses what cannot be preloaded into: a static program, one
// for another kind of machine, one that gets the rights of another user. A folder that is not there
// is refused, too. Without a folder `started` has the surroundings of this process; else its own.
tl::expected<std::filesystem::path, Refusal> find_program(const Started& started);

// The program that runs the script, "python3" for "#!/usr/bin/env python3" as well; "" if the file
// is no script.
std::string interpreter_of(const std::filesystem::path& script);

// How the program ended.
struct Ended {
  int exit_code = 0;  // 128 + signal if one has ended it, as a shell has it
  int signal = 0;
  bool over_time = false;  // it was ended because the limit was over
  int passed_on = 0;       // the last signal to end it that this process got and passed on; 0: none
};

struct Launch {
  Started started;                // as for find_program()
  std::filesystem::path program;  // of find_program()
  std::filesystem::path library;  // to preload, by a link in `folder` where that is needed
  std::filesystem::path folder;   // for the records; exists
  interpose::Settings settings;
  std::vector<std::pair<std::string, std::string>> environment;  // beside what it has otherwise
  int standard_output = 1, standard_error = 2;  // what the program has as these descriptors
  // Time after which the program is asked to end (SIGTERM), and two seconds later killed.
  std::optional<std::chrono::milliseconds> limit = {};
  int standard_input = 0;  // as this descriptor
};

// The variable as the program has it; "" if it is not set.
std::string variable_of(const Started& started, const char* name);

// What LD_PRELOAD holds already, "" if nothing; it is kept behind the library.
std::string foreign_preload(const Started& started);

// Runs it to its end. Signals that this process gets are the program's meanwhile; those of the
// terminal reach it anyway.
tl::expected<Ended, Refusal> run_program(Launch launch);

}  // namespace redzone::guard

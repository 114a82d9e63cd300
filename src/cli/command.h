// One command of the command line: its flags and its action.
#pragma once

#include <boost/program_options.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/exit_code.h"

namespace redzone::cli {

namespace po = boost::program_options;

class Results;

class Command {
 public:
  virtual ~Command() = default;
  virtual std::string_view name() const = 0;
  virtual std::string_view synopsis() const = 0;  // "redzone run [TARGET...] [options]"
  virtual std::string_view summary() const = 0;   // one line
  // Declares the flags, and which of them take positional arguments.
  virtual void declare(po::options_description& flags,
                       po::positional_options_description& words) const = 0;
  // Prints its results to `out`. The caller prints a returned error; the error determines the exit
  // code, as does a failure to write results.
  virtual Result<int> run(const po::variables_map& flags, Results& out) = 0;
  // Exit code for an error, including a mistyped flag. Codes outside Exit are for commands that
  // pass on the exit code of a program.
  virtual int exit_code_of(ErrorKind kind) const;
  // Internal commands are not for users and are omitted from the list of commands.
  virtual bool internal() const { return false; }
};

// All commands, in the order of the help text.
std::vector<std::unique_ptr<Command>> all_commands();

// --help of one command.
std::string help_text(const Command& command);
// `redzone --help`.
std::string overview(const std::vector<std::unique_ptr<Command>>& commands);

// Parses argv and runs the command; returns the exit code.
int run_command_line(int argc, char** argv);

}  // namespace redzone::cli

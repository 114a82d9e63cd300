#include <fmt/format.h>
#include <redzone/spec.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <limits>
#include <sstream>

#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/streams.h"
#include "cli/verbosity.h"
#include "core/build_environment.h"
#include "core/log.h"
#include "core/names.h"

namespace redzone::cli {
namespace {

int usual_exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage:
      return kUsage;
    case ErrorKind::unsound:
      return kUnsound;
    case ErrorKind::harness:
      break;
  }
  return kHarness;
}

void print_error(const Error& error) {
  print_note(fmt::format("redzone: {}", error.message));
}

int report(const Error& error) {
  print_error(error);
  return usual_exit_code(error.kind);
}

int report(const Command& command, const Error& error) {
  print_error(error);
  return command.exit_code_of(error.kind);
}

po::options_description flags_of(const Command& command,
                                 po::positional_options_description& words) {
  po::options_description flags("Options", 100);
  flags.add_options()("help,h", "show this text");
  add_verbosity_flag(flags);
  command.declare(flags, words);
  return flags;
}

Error unknown_flag(const Command& command, const po::options_description& flags,
                   std::string_view name) {
  std::vector<std::string> names;
  for (const auto& flag : flags.options()) names.push_back("--" + flag->long_name());
  return {ErrorKind::usage,
          fmt::format("{}: unknown flag '{}'{}; see 'redzone {} --help'", command.name(), name,
                      did_you_mean(name, names), command.name())};
}

// The name that the usage lines give the argument at `index`: "ID|PLAN.toml", "explain or agree".
std::string argument_in(std::string_view synopsis, std::size_t index) {
  std::istringstream lines{std::string(synopsis)};
  std::vector<std::string> names;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word;
    for (std::size_t i = 0; i < index + 3 && words >> word; ++i) {  // skips "redzone COMMAND"
    }
    if (names.empty() || names.back() != word) names.push_back(word);
  }
  return fmt::format("{}", fmt::join(names, " or "));
}

// Maximum number of named positional arguments of a command; the last name may take any number of
// words.
constexpr unsigned kMostNames = 4;

// "--NAME" of the first required positional argument without a value; else `flag`, the required
// flag that the library reported.
std::string first_missing(const po::options_description& flags,
                          const po::positional_options_description& words,
                          const po::variables_map& values, const std::string& flag) {
  for (unsigned i = 0; i < std::min(words.max_total_count(), kMostNames); ++i) {
    const std::string& name = words.name_for_position(i);
    if (values.count(name) == 0 && flags.find(name, /*approx=*/false).semantic()->is_required())
      return "--" + name;
  }
  return flag;
}

// `name`: "--NAME", of a flag or of a positional argument.
Error missing_argument(const Command& command, const po::positional_options_description& words,
                       std::string_view name) {
  std::string what(name);
  for (unsigned i = std::min(words.max_total_count(), kMostNames); i-- > 0;)
    if (name == "--" + words.name_for_position(i)) what = argument_in(command.synopsis(), i);
  return {ErrorKind::usage, fmt::format("{}: {} is missing; see 'redzone {} --help'",
                                        command.name(), what, command.name())};
}

bool is_flag(const po::options_description& flags, const std::string& word) {
  return word.starts_with("--") && flags.find_nothrow(word.substr(2), /*approx=*/false) != nullptr;
}

// Rejects `--db --json`, in which the library would take the flag as a value. `--db=--json` is
// accepted as a value.
void refuse_flags_as_values(const po::options_description& flags,
                            const po::parsed_options& parsed) {
  for (const auto& option : parsed.options)
    if (const auto& words = option.original_tokens; words.size() == 2 && is_flag(flags, words[1]))
      throw po::error(fmt::format("{} needs a value, and '{}' is a flag", words[0], words[1]));
}

int run_one(Command& command, const std::vector<std::string>& arguments, Results& out) {
  po::positional_options_description words;
  const auto flags = flags_of(command, words);
  po::variables_map values;
  try {
    const auto parsed = po::command_line_parser(arguments).options(flags).positional(words).run();
    refuse_flags_as_values(flags, parsed);
    po::store(parsed, values);
    if (values.count("help") != 0) {
      out.print(help_text(command));
      return kOk;
    }
    po::notify(values);
    log::set_level(verbosity_of(values));
  } catch (const po::unknown_option& e) {
    return report(command, unknown_flag(command, flags, e.get_option_name()));
  } catch (const po::required_option& e) {
    return report(
        command,
        missing_argument(command, words, first_missing(flags, words, values, e.get_option_name())));
  } catch (const po::invalid_option_value& e) {
    // All flags with a custom type are Counts.
    return report(command,
                  {ErrorKind::usage,
                   fmt::format("{}: {}: a whole number from 0 to {} is expected; see 'redzone {} "
                               "--help'",
                               command.name(), e.what(), std::numeric_limits<std::uint64_t>::max(),
                               command.name())});
  } catch (const po::error& e) {
    return report(command,
                  {ErrorKind::usage, fmt::format("{}: {}; see 'redzone {} --help'", command.name(),
                                                 e.what(), command.name())});
  }
  const auto code = [&]() -> Result<int> {
    try {
      return command.run(values, out);
    } catch (const SpecError& e) {
      // The target's own functions of the dims may throw in any call.
      return usage_error(fmt::format("{}: {}", command.name(), e.what()));
    } catch (const std::exception& e) {
      return harness_error(fmt::format("{}: {}", command.name(), e.what()));
    }
  }();
  if (code) return *code;
  const int failed = report(command, code.error());
  return interrupted() ? kInterrupted : failed;
}

}  // namespace

int Command::exit_code_of(ErrorKind kind) const {
  return usual_exit_code(kind);
}

std::string help_text(const Command& command) {
  po::positional_options_description words;
  std::ostringstream out;
  out << command.synopsis() << "\n\n" << command.summary() << "\n\n" << flags_of(command, words);
  return out.str();
}

std::string overview(const std::vector<std::unique_ptr<Command>>& commands) {
  std::string out =
      "redzone: fuzzes GPU kernels with sequences of shapes and keeps minimized reproducers\n\n"
      "Commands (redzone COMMAND --help shows the flags):\n";
  for (const auto& command : commands)
    if (!command->internal())
      out += fmt::format("  {:10} {}\n", command->name(), command->summary());
  out +=
      "\nEvery command takes -v (reports progress on standard error) and -vv (each trial as well)\n"
      "\nExit codes: 0 nothing new, 1 new findings, 2 usage, 3 harness error, 4 nothing could be "
      "judged, 5 a store that is not sound, 130 interrupted\n";
  return out;
}

namespace {

int run_words(const std::vector<std::string>& arguments, Results& out) {
  const auto commands = all_commands();
  const auto named = std::find_if(commands.begin(), commands.end(), [&](const auto& command) {
    return !arguments.empty() && command->name() == arguments[0];
  });
  // A target that runs in this process must see the default signal handling.
  const bool is_worker = named != commands.end() && (*named)->internal();
  if (!is_worker) outlive_failed_writes();
  if (named != commands.end())
    return run_one(**named, {arguments.begin() + 1, arguments.end()}, out);
  if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h" ||
      arguments[0] == "help") {
    out.print(overview(commands));
    return arguments.empty() ? kUsage : kOk;
  }
  if (arguments[0] == "--version") {
    out.print(fmt::format("redzone {}\n", redzone_version()));
    return kOk;
  }
  std::vector<std::string> names;
  for (const auto& command : commands)
    if (!command->internal()) names.emplace_back(command->name());
  return report(
      {ErrorKind::usage, fmt::format("unknown command '{}'{} (commands: {})", arguments[0],
                                     did_you_mean(arguments[0], names), fmt::join(names, ", "))});
}

}  // namespace

int run_command_line(int argc, char** argv) {
  Results out(take_stdout());
  const int code = run_words({argv + 1, argv + argc}, out);
  if (out.problem() == 0 || interrupted()) return code;
  // The reader closed the pipe, so no error is printed.
  if (out.problem() == EPIPE) return kHarness;
  return report({ErrorKind::harness,
                 fmt::format("the result could not be written: {}", std::strerror(out.problem()))});
}

}  // namespace redzone::cli

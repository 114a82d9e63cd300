// Flags that several commands share, each declared and read in one place.
#pragma once

#include <redzone/spec.h>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"
#include "store/store.h"
#include "target/registry.h"

namespace redzone::cli {

// An integer >= 0. (program_options would read -1 as 2^64 - 1.)
struct Count {
  std::uint64_t value = 0;
};
std::istream& operator>>(std::istream& in, Count& count);
std::ostream& operator<<(std::ostream& out, Count count);

void add_json_flag(po::options_description& flags);
void add_db_flag(po::options_description& flags);
void add_device_flag(po::options_description& flags);
void add_plugin_flag(po::options_description& flags);
void add_package_flag(po::options_description& flags);
void add_python_flag(po::options_description& flags);
// Adds the flags that name target code: --plugin, --package, --python-file and --python.
void add_target_flags(po::options_description& flags);
void add_sanitizer_flag(po::options_description& flags);
void add_worker_flags(po::options_description& flags);  // --deadline, --workers
void add_compile_flag(po::options_description& flags);  // --compilers, for campaigns

bool json_wanted(const po::variables_map& flags);
// The store's file if replay commands must name it, "" for the default store.
std::string db_for_commands(const po::variables_map& flags);
Result<store::Store> open_store(const po::variables_map& flags, store::OpenMode mode);

// --device: the named device, or for "auto" the best one available. An unavailable device is a
// harness error that reports what is missing.
Result<DeviceKind> chosen_device(const po::variables_map& flags);

// A flag that only some actions of a command accept (such as "prune" of `redzone db`).
struct FlagOfActions {
  std::string_view flag;
  std::vector<std::string_view> actions;
};
// A usage error that names a given flag that `action` does not accept.
Result<void> check_flags_of(std::string_view command, std::string_view action,
                            const po::variables_map& given, std::span<const FlagOfActions> flags);

// The words of the flags that were given, except `but_not`: "--device", "host", "--plans", "3".
// Positional arguments are omitted.
std::vector<std::string> given_words(const po::variables_map& flags, std::string_view but_not = "");
// given_words(), quoted for the shell so that they can be typed again: "--device host --plans 3".
std::string given_flags(const po::variables_map& flags, std::string_view but_not = "");

// --sanitizer or --checks; SanitizerTool::none if both are absent.
Result<SanitizerTool> sanitizer_flag(const po::variables_map& flags);

// --launch, --allocator; empty if absent.
Result<std::optional<Launch>> launch_flag(const po::variables_map& flags);
Result<std::optional<Allocator>> allocator_flag(const po::variables_map& flags);

// The shipped plugins and those of --plugin.
std::vector<std::filesystem::path> plugin_paths(const po::variables_map& flags);
// The shipped packages and those of --package.
std::vector<std::filesystem::path> package_paths(const po::variables_map& flags);

// The files of --python-file, and those among TARGET... that are Python files.
std::vector<std::filesystem::path> python_paths(const po::variables_map& flags);
bool is_python_file(std::string_view word);
std::string python_flag(const po::variables_map& flags);  // --python; "" if absent

// "90", "90s", "500ms", "5m", "1h".
Result<std::chrono::milliseconds> parse_duration(const std::string& text);
// The value of a flag that contains a duration; empty if absent.
Result<std::optional<std::chrono::milliseconds>> duration_flag(const po::variables_map& flags,
                                                               const char* name);

// Parses the number of a finding; a usage error if it is not one.
Result<std::int64_t> parse_id(const std::string& word);
// Parses the number of a night, from --night.
Result<std::int64_t> parse_night(const std::string& word);

}  // namespace redzone::cli

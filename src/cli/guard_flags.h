// The flags of `redzone guard` that set the guard's settings.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "cli/flags.h"
#include "guard/program_runs.h"

namespace redzone::cli {

void add_guard_settings_flags(po::options_description& flags);
Result<interpose::Settings> guard_settings(const po::variables_map& flags);
// Reads --placement alone.
Result<interpose::Placement> guard_placement(const po::variables_map& flags);
// The flags that produce `settings`: "--cpu --placement guard_before".
std::string words_of(const interpose::Settings& settings);
// For commands that accept findings of targets and of programs: a usage error if one of `names`,
// which apply to plans only, is given.
Result<void> only_flags_of_programs(const po::variables_map& flags,
                                    std::initializer_list<const char*> names);
// The settings that --runs may vary: those that were not given.
guard::Varied varied_settings(const po::variables_map& flags);

// "7" or "100-200".
Result<interpose::BlockRange> parse_blocks(const std::string& text, std::string_view flag);

}  // namespace redzone::cli

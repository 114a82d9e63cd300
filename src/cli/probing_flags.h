// Shared by the commands that run further experiments on a stored finding.
#pragma once

#include <optional>
#include <string_view>

#include "cli/flags.h"
#include "engine/probing.h"

namespace redzone::cli {

// Adds --id, --time, and the flags that these commands share with replay.
void add_probing_flags(po::options_description& flags, po::positional_options_description& words);

// When the time limit of --time ends; max() without one.
Result<std::chrono::steady_clock::time_point> end_of_time(const po::variables_map& flags);

// Opens the finding of --id; prints a note if the code of the loaded target differs. With `build`,
// a plugin or the folder of a package, loads only that.
Result<std::unique_ptr<engine::Probing>> open_probing(
    const po::variables_map& flags, std::chrono::steady_clock::time_point until,
    const std::optional<std::filesystem::path>& build = {});

// Stores the other failure that occurred, if any, and prints a note that begins with `what`.
Result<void> store_other(engine::Probing& probing, std::string_view what);

}  // namespace redzone::cli

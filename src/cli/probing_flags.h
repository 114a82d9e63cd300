// What the commands share that ask a stored finding further questions.
#pragma once

#include <optional>
#include <string_view>

#include "cli/flags.h"
#include "engine/probing.h"

namespace redzone::cli {

// --id, --time, and what such a command has in common with replay.
void add_probing_flags(po::options_description& flags, po::positional_options_description& words);

// When --time will be over.
Result<std::chrono::steady_clock::time_point> end_of_time(const po::variables_map& flags);

// Of the finding that --id names; a note says so where its target is of other code. With `build`, a
// plugin or the folder of a package, that is all that is loaded.
Result<std::unique_ptr<engine::Probing>> open_probing(
    const po::variables_map& flags, std::chrono::steady_clock::time_point until,
    const std::optional<std::filesystem::path>& build = {});

// Stores the other failure that was met, if any, and says so; `what` failed, as a note begins.
Result<void> store_other(engine::Probing& probing, std::string_view what);

}  // namespace redzone::cli

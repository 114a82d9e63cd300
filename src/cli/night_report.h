// A night as the store has it, for the reports.
#pragma once

#include <filesystem>
#include <string_view>

#include "report/night.h"
#include "store/night.h"

namespace redzone::cli {

// The exit code of a night that is not closed, as one that was cut off, is kInterrupted. `db` is
// the store's file where replay lines have to name it. An unknown night is a usage error.
Result<report::Night> describe_night(store::Store& store, std::int64_t campaign,
                                     std::string_view db);
// The latest; a usage error where there is none.
Result<std::int64_t> latest_night(store::Store& store);

// 0 nothing new, 1 new or regressed, 2 the corpus has files that cannot be read, 3 the night ended
// early, 4 nothing could be judged.
int night_exit_code(const report::Night& night, bool broken_corpus);

// Every format into the folder, which is there. A usage error when a file cannot be written.
Result<void> write_night(const report::Night& night, const std::filesystem::path& folder);

}  // namespace redzone::cli

// One job: a night from its first step to its exit code.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "nightly/nightly.h"
#include "report/night.h"

namespace redzone::nightly {

struct JobOptions {
  std::string db = {};  // the store's file where replay lines have to name it
  std::optional<std::filesystem::path> report = {};  // folder for the report in all formats
  std::function<void(const report::Night&)> print = [](const report::Night&) {};
};

// Runs the night, or what is left of one that was cut off, tells what it came to, and closes it: in
// this order, so that one which is cut off before goes on, and writes its report again. A night
// that could not begin, and a report that could not be written where nothing was found, is an
// error.
Result<int> run_job(const Means& means, store::Store& store, const engine::Selection& selection,
                    const NightlyOptions& options, const JobOptions& job);

}  // namespace redzone::nightly

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
  std::string db = {};  // the store's file if replay lines have to name it
  std::optional<std::filesystem::path> report = {};  // folder for the report in all formats
  std::function<void(const report::Night&)> print = [](const report::Night&) {};
};

// Runs the night or the rest of one that was cut off, reports it, then closes it. In this order, so
// that a night that is cut off earlier is continued and writes its report again. Returns the exit
// code. A night that could not begin is an error, and so is a report that could not be written if
// nothing was found.
Result<int> run_job(const Means& means, store::Store& store, const engine::Selection& selection,
                    const NightlyOptions& options, const JobOptions& job);

}  // namespace redzone::nightly

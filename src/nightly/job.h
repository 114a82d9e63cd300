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
  std::string db = {};  // path of the store, if replay lines must name it
  std::optional<std::filesystem::path> report = {};  // folder for the report in all formats
  std::function<void(const report::Night&)> print = [](const report::Night&) {};
};

// Runs a night, or the rest of one that was cut off, reports it, then closes it. With this order, a
// night that is cut off before it is closed is continued later and writes its report again. Returns
// the exit code. It is an error if the night cannot begin, or if the report cannot be written and
// nothing was found.
Result<int> run_job(const Means& means, store::Store& store, const engine::Selection& selection,
                    const NightlyOptions& options, const JobOptions& job);

}  // namespace redzone::nightly

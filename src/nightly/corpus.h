// Plan files that a night replays besides the known findings: regressions kept in a repository.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "core/repro.h"
#include "target/registry.h"

namespace redzone::nightly {

struct CorpusPlan {
  std::string name;  // relative to the folder, so independent of where the folder is
  std::string file;  // path including the folder, as given
  Repro repro;
  std::string problem;  // why the file cannot be read; "" if it can
};

// Returns all *.toml files of the folder and its subfolders, sorted by name. A file that cannot be
// read is included with its problem, so that one bad file does not prevent the night. A missing or
// empty folder is a usage error.
Result<std::vector<CorpusPlan>> read_corpus(const std::filesystem::path& folder);

// Returns a usage error with file and target if a plan's target is not loaded for any device.
Result<void> check_targets(std::span<const CorpusPlan> plans, const Registry& registry);

}  // namespace redzone::nightly

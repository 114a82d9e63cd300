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
  std::string name;  // relative to the folder; the same wherever the folder lies
  std::string file;  // including the folder, as given
  Repro repro;
  std::string problem;  // why it cannot be read; "" if it can
};

// All *.toml files of the folder and its subfolders, by name. A file that cannot be read is
// included with its problem, so that one bad file does not cost the night. A missing or empty
// folder is a usage error.
Result<std::vector<CorpusPlan>> read_corpus(const std::filesystem::path& folder);

// A usage error with file and target if a plan is for a target that is not loaded, for any device.
Result<void> check_targets(std::span<const CorpusPlan> plans, const Registry& registry);

}  // namespace redzone::nightly

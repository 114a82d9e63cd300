// Plan files that a night replays beside what is known: regressions that are kept in a repository.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/repro.h"

namespace redzone::nightly {

struct CorpusPlan {
  std::string name;  // from the folder; the same wherever the folder lies
  std::string file;  // with the folder, as it was given
  Repro repro;
  std::string problem;  // why it cannot be read; "" when it can
};

// All *.toml files of the folder and those below it, by name. A file that cannot be read is among
// them, with its problem: one bad file must not cost the night. A folder that is not there, or
// holds none, is a usage error.
Result<std::vector<CorpusPlan>> read_corpus(const std::filesystem::path& folder);

}  // namespace redzone::nightly

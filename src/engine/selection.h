// Which targets a campaign fuzzes.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/site.h"
#include "store/store.h"

namespace redzone::engine {

// What is asked for. Only where no target is named, the rest says which are wanted.
struct SelectionOptions {
  std::vector<std::string> targets = {};   // names
  std::vector<std::string> packages = {};  // folders, as they were given; these and no others
  bool puzzles = false;                    // puzzles, too
  bool lazy = false;  // packages under the launch that compiles, tunes and freezes
  bool all = false;   // all kernels and packages, these under both launches
};

struct Skipped {
  std::string target;
  std::string why;

  bool operator==(const Skipped&) const = default;
};

struct Selection {
  std::vector<const TargetEntry*> targets;
  std::vector<Skipped> skipped;
};

// The named targets and no others, or all that are no puzzles; a target with a quarantined finding
// is skipped, as its plans could show it again. An unknown name is a usage error.
Result<Selection> select(const Site& site, const SelectionOptions& options,
                         const std::vector<store::Quarantined>& quarantined);

}  // namespace redzone::engine

// Selects the targets that a campaign fuzzes.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/site.h"
#include "store/store.h"

namespace redzone::engine {

// The user's selection. The other switches apply only if no target is named.
struct SelectionOptions {
  std::vector<std::string> targets = {};   // names
  std::vector<std::string> packages = {};  // folders, as given; if set, only these are fuzzed
  bool python = false;                     // only targets of Python files, including puzzles
  bool puzzles = false;                    // include puzzles
  bool lazy = false;  // packages under the launch that compiles, tunes and freezes
  bool all = false;   // all kernels and packages, packages under both launches
  SanitizerTool tool = SanitizerTool::none;  // runs each plan, too
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

// Selects the named targets, or all that are not puzzles. Targets with a quarantined finding are
// skipped, since their plans could trigger it again. Returns a usage error for an unknown name, and
// for a target that has no build for the tool if it is a check.
Result<Selection> select(const Site& site, const SelectionOptions& options,
                         const std::vector<store::Quarantined>& quarantined);

// Checks that each word names a target, or is a pattern that matches one, for any device; used for
// jobs that run on other machines. Returns a usage error otherwise.
Result<void> check_names(const Registry& registry, const std::vector<std::string>& words);

}  // namespace redzone::engine

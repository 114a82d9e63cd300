// Which targets a campaign fuzzes.
#pragma once

#include <string>
#include <vector>

#include "cli/session.h"
#include "store/store.h"

namespace redzone::cli {

struct Skipped {
  std::string target;
  std::string why;

  bool operator==(const Skipped&) const = default;
};

struct Selection {
  std::vector<const TargetEntry*> targets;
  std::vector<Skipped> skipped;
};

// Positional TARGET..., --puzzles, --lazy and --all.
void add_selection_flags(po::options_description& flags, po::positional_options_description& words);

// The named targets and no others, or all that are no puzzles; a target with a quarantined finding
// is skipped, as its plans could show it again. An unknown name is a usage error.
Result<Selection> select(const Session& session, const po::variables_map& flags,
                         const std::vector<store::Quarantined>& quarantined);

// --force: launch what is quarantined.
void add_force_flag(po::options_description& flags);
// What --db forbids to launch: nothing with --force, or where there is no such file yet.
Result<std::vector<store::Quarantined>> forbidden(const po::variables_map& flags);
// A usage error where a finding of the target is quarantined in the store and --force is absent.
Result<void> check_allowed(std::string_view target, const po::variables_map& flags);
// The finding, when its target may be launched. Reads only: a mistyped number makes no store.
Result<Finding> allowed_finding(std::int64_t id, const po::variables_map& flags);

}  // namespace redzone::cli

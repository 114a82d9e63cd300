// The flags that select targets, and the check for findings quarantined in the store.
#pragma once

#include <vector>

#include "cli/flags.h"
#include "engine/selection.h"

namespace redzone::cli {

// Positional TARGET..., --puzzles, --lazy and --all.
void add_selection_flags(po::options_description& flags, po::positional_options_description& words);
engine::SelectionOptions selection_options(const po::variables_map& flags);

// Adds --force, which launches targets with quarantined findings.
void add_force_flag(po::options_description& flags);
// The quarantined findings in --db; empty with --force or if the file does not exist yet.
Result<std::vector<store::Quarantined>> forbidden(const po::variables_map& flags);
// A usage error if a finding of the target is quarantined in the store and --force is absent.
Result<void> check_allowed(std::string_view target, const po::variables_map& flags);
// The finding if its target may be launched; a usage error otherwise. Opens the store read-only, so
// that a mistyped number creates no store.
Result<Finding> allowed_finding(std::int64_t id, const po::variables_map& flags);
// Like allowed_finding(), but a usage error for a finding of a program, which the command `what`
// does not support.
Result<Finding> allowed_target_finding(std::int64_t id, const po::variables_map& flags,
                                       std::string_view what);

}  // namespace redzone::cli

// Which targets are asked for, and which of them the store forbids to launch.
#pragma once

#include <vector>

#include "cli/flags.h"
#include "engine/selection.h"

namespace redzone::cli {

// Positional TARGET..., --puzzles, --lazy and --all.
void add_selection_flags(po::options_description& flags, po::positional_options_description& words);
engine::SelectionOptions selection_options(const po::variables_map& flags);

// --force: launch what is quarantined.
void add_force_flag(po::options_description& flags);
// What --db forbids to launch: nothing with --force, or where there is no such file yet.
Result<std::vector<store::Quarantined>> forbidden(const po::variables_map& flags);
// A usage error where a finding of the target is quarantined in the store and --force is absent.
Result<void> check_allowed(std::string_view target, const po::variables_map& flags);
// The finding, when its target may be launched. Reads only: a mistyped number makes no store.
Result<Finding> allowed_finding(std::int64_t id, const po::variables_map& flags);

}  // namespace redzone::cli

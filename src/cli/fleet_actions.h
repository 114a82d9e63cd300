// Fleet actions for users; cmd_fleet.cpp has the flags, and the actions that the fleet's jobs run.
#pragma once

#include <string>

#include "cli/flags.h"
#include "cli/output.h"
#include "fleet/layout.h"

namespace redzone::cli {

// --dir, absolute.
fleet::Layout fleet_layout(const po::variables_map& flags);
// The path of this program, for jobs on other machines.
Result<std::string> own_program();

Result<int> fleet_submit(const po::variables_map& flags, Results& out);
Result<int> fleet_status(const po::variables_map& flags, Results& out);
Result<int> fleet_stop(const po::variables_map& flags, Results& out);
Result<int> fleet_report(const po::variables_map& flags, Results& out);

}  // namespace redzone::cli

// Detects changes of the files that a program was run from.
#pragma once

#include <string>
#include <vector>

#include "core/program_origin.h"
#include "guard/started.h"

namespace redzone::guard {

// Describes `program`, and the script that an interpreter was started with. Files that cannot be
// read are skipped.
std::vector<ProgramFile> files_of(const Started& started, const std::string& program);

// The paths of files that have changed or are missing.
std::vector<std::string> changed_files(const std::vector<ProgramFile>& recorded);

}  // namespace redzone::guard

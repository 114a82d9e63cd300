// Whether the files that a program was run from are still what they were.
#pragma once

#include <string>
#include <vector>

#include "core/program_origin.h"
#include "guard/started.h"

namespace redzone::guard {

// `program`, and the script that an interpreter was started with. Files that cannot be read are
// left out.
std::vector<ProgramFile> files_of(const Started& started, const std::string& program);

// The paths of those that are not what they were; one that is gone is among them.
std::vector<std::string> changed_files(const std::vector<ProgramFile>& recorded);

}  // namespace redzone::guard

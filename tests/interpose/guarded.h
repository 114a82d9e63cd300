// Runs a program under the preloaded library, as the command does, and reads what it has left.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "guard/process_record.h"
#include "interpose/settings.h"

namespace redzone::interpose {

struct Guarded {
  int exit = -1;  // 128 + signal if one has ended it
  std::vector<guard::ProcessRecord> processes;
  std::vector<guard::Finding> findings;  // of all of them
};

// argv[0] is a path. `environment`: added to that of this process. guarded: whether the library is
// preloaded at all.
Guarded run_guarded(const std::vector<std::string>& argv, const Settings& settings,
                    const std::vector<std::pair<std::string, std::string>>& environment = {},
                    bool guarded = true);

}  // namespace redzone::interpose

// Launches of guarded processes, for the reports of `redzone guard` (guard.h).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "guard/launch.h"
#include "report/json_parts.h"

namespace redzone::report {

// Lines about a launch and the blocks that its pointers refer to; the first line begins with
// `title`.
std::string launch_text(std::string_view title, const guard::KernelLaunch& launch);
// Lines about the launches that may have caused an error, newest first; `lost`: how many further
// ones there may have been.
std::string unfinished_text(const std::vector<guard::KernelLaunch>& launches, std::uint64_t lost);

// {"ordinal", "state", "kind", "kernel", "grid": [3], "block": [3], "shared_bytes", "stream",
// "thread", "arguments": [{"offset", "bytes", "value"}], "pointers": [{"offset", "value",
// "block"}]}; null if there is none.
Json launch_json(const guard::KernelLaunch& launch);
Json launches_json(const std::vector<guard::KernelLaunch>& launches);

// {"address", "bytes", "ordinal", "freed"}; null if no block is known.
Json block_json(const guard::Block& block);
std::string hex(std::uint64_t value);

}  // namespace redzone::report

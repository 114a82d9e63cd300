// The self-proof of a compute-sanitizer tool: a bug of the kind that the tool detects runs in the
// tool's worker and is judged by its oracle. A tool that runs but finds nothing would report a
// broken target as clean.
#pragma once

#include <chrono>

#include "campaign/self_proof.h"

namespace redzone::campaign {

// Deadline of a trial without the tool. Executors extend it under a tool
// (exec::TieredOptions::slowdown); the first trial may need the extension, because the tool
// inspects each kernel before it runs.
inline constexpr std::chrono::milliseconds kToolProofDeadline{1000};

// Runs two trials under `tool`, which must not be none: the planted bug must be caught with its own
// kind, and the clean target must pass. `executor` must support trials under tools.
//
// On failure, a harness error of one line reports which check of the tool failed, or why the tool
// cannot be used here.
Result<void> prove_tool(exec::Executor& executor, const oracles::Catalog& catalog,
                        const FindSpec& find_spec, SanitizerTool tool,
                        std::chrono::milliseconds deadline = kToolProofDeadline);

// The planted bug of that tool, for people: "a planted write".
std::string_view planted_for(SanitizerTool tool);

}  // namespace redzone::campaign

// The self-proof of a compute-sanitizer tool: a bug of the kind that it detects goes through its
// worker and its oracle. A tool that runs but finds nothing would report a broken target as clean.
#pragma once

#include <chrono>

#include "campaign/self_proof.h"

namespace redzone::campaign {

// Deadline of a trial without the tool. Executors extend it under a tool
// (exec::TieredOptions::slowdown); the first trial may need that, since the tool inspects each
// kernel before it runs.
inline constexpr std::chrono::milliseconds kToolProofDeadline{1000};

// Runs two trials under `tool`, which is not none: the planted bug must be caught with its own
// kind, and the clean target must pass. `executor` must support trials under tools.
//
// A harness error of one line gives what the tool fails to do, or why it cannot be used here.
Result<void> prove_tool(exec::Executor& executor, const oracles::Catalog& catalog,
                        const FindSpec& find_spec, SanitizerTool tool,
                        std::chrono::milliseconds deadline = kToolProofDeadline);

// The planted bug of that tool, for people: "a planted write".
std::string_view planted_for(SanitizerTool tool);

}  // namespace redzone::campaign

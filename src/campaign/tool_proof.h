// The self-proof of a tool of compute-sanitizer: a bug of the kind that it is for goes through its
// worker and its oracle. A tool that is there and finds nothing would report a broken target as
// clean.
#pragma once

#include <chrono>

#include "campaign/self_proof.h"

namespace redzone::campaign {

// Of a trial without the tool. An executor grants more under it (exec::TieredOptions::slowdown),
// which the first trial may need: the tool looks at each kernel before it lets it run.
inline constexpr std::chrono::milliseconds kToolProofDeadline{1000};

// Two trials under `tool`, which is not none: the planted bug of its kind must be caught as what it
// is, and the clean target must pass. `executor` knows trials under tools.
//
// A harness error, one line, says what the tool does not do, or why it cannot be used here.
Result<void> prove_tool(exec::Executor& executor, const oracles::Catalog& catalog,
                        const FindSpec& find_spec, SanitizerTool tool,
                        std::chrono::milliseconds deadline = kToolProofDeadline);

// The planted bug of that tool, for people: "a planted write".
std::string_view planted_for(SanitizerTool tool);

}  // namespace redzone::campaign

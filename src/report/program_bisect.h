// The output of `redzone bisect` for a finding of a program.
//
// JSON: {"finding": id, "signature", "base": ANSWER, "settings": [{"name", "value", "relevance",
//       "tried": [{"value"} + ANSWER]}], "together": ANSWER or null, "blocks": [first, last] or
//       null, "blocks_decided", "runs", "complete"}
// ANSWER: "answer", "failed", "otherwise", "passed", "unjudged", "said"
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "bisect/choices.h"
#include "core/finding.h"

namespace redzone::report {

struct ProgramBisection {
  bisect::ChoiceBisection settings;
  // Guarding only these blocks suffices for the failure; absent if this was not searched.
  std::optional<bisect::NarrowedRange> blocks = {};
};

std::string program_bisection_text(const Finding& finding, const ProgramBisection& result);
std::string program_bisection_json(const Finding& finding, const ProgramBisection& result);

}  // namespace redzone::report

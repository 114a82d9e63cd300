// A night as GitHub's Markdown, for the summary of a CI job: what needs attention first, then what
// was not judged, the targets, the rest of the ledger, and the plans of what needs attention.
//
// GitHub refuses a summary of more than 1 MiB as a whole (docs.github.com, workflow commands,
// "Adding a job summary"). Whole rows and plans beyond `most_bytes` are omitted from the end, and
// the last paragraph gives their number. Long texts in a row are cut to a readable length and end
// in an ellipsis.
#pragma once

#include <cstddef>
#include <string>

#include "report/night.h"

namespace redzone::report {

inline constexpr std::size_t kMostSummaryBytes = 1'000'000;

std::string night_markdown(const Night& night);
// `most_bytes`: at least 16 KiB.
std::string night_markdown(const Night& night, std::size_t most_bytes);

}  // namespace redzone::report

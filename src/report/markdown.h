// A night as GitHub's Markdown, for the summary of a CI job: what needs attention first, then what
// was not judged, the targets, the rest of the ledger, and the plans of what needs attention.
//
// A summary of more than 1 MiB is refused by GitHub as a whole (docs.github.com, workflow commands,
// "Adding a job summary"). What does not fit in `most_bytes` is left out from the end, whole rows
// and plans at a time, and the last paragraph says how much of what. Long texts in a row are cut to
// a length that stays readable and end in an ellipsis.
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

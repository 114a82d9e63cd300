// What fuzzing one target gave, in counts: of a campaign, of a night in the store, and of a report.
#pragma once

#include <cstdint>
#include <string>

#include "core/output_count.h"
#include "core/verdict.h"

namespace redzone {

struct TargetCounts {
  std::uint64_t plans = 0, calls = 0;
  std::uint64_t pass = 0, fail = 0, inconclusive = 0, not_applicable = 0, harness_errors = 0;
  double device_seconds = 0;      // in trials
  ReferenceCount reference = {};  // over all screened plans; zeros if there is no reference
  std::string not_compared = {};  // why the first call without a comparison was not compared
  OutputCount outputs = {};       // outputs of the screened calls that were not compared
  std::string not_judged = {};    // why no oracle judged the outputs of the first such call
  std::string spec_error = {};    // the target author's first mistake that was met; "" if none

  // Adds the counts, and keeps the first of each reason.
  TargetCounts& operator+=(const TargetCounts& more);
  bool operator==(const TargetCounts&) const = default;
};

}  // namespace redzone

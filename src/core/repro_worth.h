// Compares two reproducers of one signature.
#pragma once

#include <compare>
#include <cstdint>

#include "core/finding.h"

namespace redzone {

// confirmed > flaky > suspect > unconfirmed
int rank_of(FindingState state);

// Fewer calls first, then the shorter text.
bool is_smaller(const Plan& a, const Plan& b);

// Greater is better: first by what the runs have shown, then minimal before not minimal, then by
// state, then the smaller plan, then the plan whose failure rate was measured. An intermittent
// failure may occur in all runs that confirm an unreduced plan, so that proves no more than a plan
// whose rate was measured as flaky.
struct ReproWorth {
  int shown = 0;
  bool minimal = false;
  int state = 0;
  std::int64_t fewer_calls = 0;   // negated number of calls
  std::int64_t shorter_text = 0;  // negated length of the plan's text
  bool measured = false;

  auto operator<=>(const ReproWorth&) const = default;
};
ReproWorth worth_of(const Finding& finding);

}  // namespace redzone

// Texts about how many calls were compared with the references of their targets. All functions
// return "" if there was nothing to compare, as for targets without a reference.
#pragma once

#include <string>
#include <string_view>

#include "core/output_count.h"
#include "core/verdict.h"

namespace redzone::report {

// "612 of 1,000", "612 of 1,000 (40 sampled)"
std::string compared_count(const ReferenceCount& count);
// "612 of 1,000 calls"
std::string compared_calls(const ReferenceCount& count);
// ", 40 of them in a sample of rows"; "" if no call was sampled.
std::string sampled_text(const ReferenceCount& count);
// "compared with the reference: 612 of 1,000 calls", followed by sampled_text()
std::string compared_text(const ReferenceCount& count);
// "not judged by reference: none of 37 calls was compared: WHY"; "" if a call was compared. `why`
// is printed as given.
std::string not_compared_text(const ReferenceCount& count, std::string_view why);

// "no oracle judged the outputs of TARGET: WHY"; "" if some were judged, or if not_compared_text()
// covers the target.
std::string outputs_not_judged_text(std::string_view target, const ReferenceCount& reference,
                                    const OutputCount& outputs, std::string_view why);

}  // namespace redzone::report

// A night as SARIF 2.1.0 (OASIS), for code scanning services and viewers. One run, with a rule for
// each kind of failure and a result for each finding that is not fixed. Services close a result
// that is missing, so findings that were not run in this night are included.
//
//   level         error: failed and not waived. note: waived, quarantined, or not confirmed.
//                 warning: others.
//   suppressions  for waived and quarantined findings, with the link or note
//   locations     an artificial file "targets/NAME" and the logical location target::kernel. GitHub
//                 shows only results with a physical location, and treats a result in another file
//                 as another alert: source lines are known in some nights only, so they are in the
//                 properties
//   partialFingerprints  the hash of the signature: independent of address, seed, date, number and
//                 machine. Under "primaryLocationLineHash", the only key that GitHub compares, and
//                 under Redzone's own key
//   notifications what could not be judged, and why the night ended early
//
// Services refuse a run of more than 25,000 results (docs.github.com, SARIF support for code
// scanning): results at the end are omitted, and a notification gives their number.
#pragma once

#include <string>

#include "report/night.h"

namespace redzone::report {

std::string night_sarif(const Night& night);

}  // namespace redzone::report

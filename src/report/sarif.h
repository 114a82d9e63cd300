// A night as SARIF 2.1.0 (OASIS), for code scanning services and viewers. One run, with a rule for
// each kind of failure and a result for each finding that is not fixed. Services close a result
// that is missing, so findings that were not run tonight are included.
//
//   level         error: failed, and nobody has waived it. note: waived, quarantined, or not
//                 confirmed. warning: the rest.
//   suppressions  for waived and quarantined findings, with the link or note
//   locations     a made-up file "targets/NAME" and the logical location target::kernel. GitHub
//                 shows only results with a physical location, and treats a result at another file
//                 as another alert: source lines are known on some nights only, so they are in the
//                 properties
//   partialFingerprints  the hash of the signature: independent of address, seed, date, number and
//                 machine. Under "primaryLocationLineHash", the only one that GitHub compares, and
//                 under a name of ours
//   notifications what could not be judged, and why the night ended early
//
// Services refuse a run of more than 25,000 results (docs.github.com, SARIF support for code
// scanning): those at the end are left out, and a notification gives their number.
#pragma once

#include <string>

#include "report/night.h"

namespace redzone::report {

std::string night_sarif(const Night& night);

}  // namespace redzone::report

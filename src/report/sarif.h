// A night as SARIF 2.1.0 (OASIS), for code scanning services and viewers. One run; a rule for each
// kind of failure, a result for each finding that is not fixed: one that is missing is closed by
// the services, so those that were not run tonight are there, too.
//
//   level         error: failed, and nobody has waived it. note: waived, quarantined, or not
//                 confirmed. warning: the rest.
//   suppressions  of what is waived or quarantined, with its link or note
//   locations     a made-up file "targets/NAME" and the logical location target::kernel. GitHub
//   shows
//                 only what has a physical location, and takes a result at another file for another
//                 alert: source lines are known on some nights and not on others, so they are in
//                 the properties
//   partialFingerprints  the hash of the signature: no address, seed, date, number or machine is in
//                 it. Under "primaryLocationLineHash", the only one that GitHub compares, and under
//                 a name of ours
//   notifications what could not be judged, and why the night ended early
//
// Services refuse a run of more than 25,000 results (docs.github.com, SARIF support for code
// scanning): those at the end are left out, and a notification says how many.
#pragma once

#include <string>

#include "report/night.h"

namespace redzone::report {

std::string night_sarif(const Night& night);

}  // namespace redzone::report

// A night as JUnit XML, in the form that Jenkins and the forges read (tests/report/junit.xsd):
// suites "night", "targets", "findings" and "corpus", with a case for each target, each finding of
// the store and each plan of the corpus.
//
//   failure  a failure that is not waived, confirmed or not: the case of the finding, of its target
//            and of the plan that showed it; a failed plan of the corpus
//   error    the night itself could not do its job or could judge nothing (exit 3, 4, 130, ...), so
//            that a reader who counts failures does not mistake it for a pass
//   skipped  with the reason: waived, quarantined, not run, not applicable, unclear, did not
//            recur, a target that was not fuzzed or had nothing that could be judged
//   passed   all others, including fixed findings
//
// A finding's case is named by its signature, so that its history is independent of its number in
// the store. Characters outside XML 1.0 become U+FFFD.
#pragma once

#include <string>

#include "report/night.h"

namespace redzone::report {

std::string night_junit(const Night& night);

}  // namespace redzone::report

// A night as JUnit XML, in the form that Jenkins and the forges read (tests/report/junit.xsd):
// suites "night", "targets", "findings" and "corpus", and in them a case for each target, each
// finding of the store and each plan of the corpus.
//
//   failure  a finding that nobody has waived failed, confirmed or not: the case of the finding, of
//            its target and of the plan that showed it; a plan of the corpus failed
//   error    the night itself could not do its job or could judge nothing (exit 3, 4, 130, ...), so
//            that a reader who counts failures does not take it for a pass
//   skipped  with the reason: waived, quarantined, not run, not applicable, unclear, did not
//            recur, a target that was not fuzzed or had nothing that could be judged
//   passed   the rest, fixed findings among them
//
// A finding's case is named by its signature, so that its history is independent of its number in
// the store. Characters outside XML 1.0 become U+FFFD.
#pragma once

#include <string>

#include "report/night.h"

namespace redzone::report {

std::string night_junit(const Night& night);

}  // namespace redzone::report

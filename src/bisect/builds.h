// The first bad one of an ordered list of builds, when a bad build does not fail always.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bisect/prober.h"

namespace redzone::bisect {

struct BuildProbe {
  Probe probe;
  std::string skipped;  // why it could not be tried; "" when it was
};

struct BuildStep {
  std::size_t build = 0;
  BuildProbe answer;
  // After this step: the chance of the build that is the most likely first bad one.
  std::size_t likely = 0;
  double confidence = 0;
};

struct FirstBad {
  std::vector<BuildStep> path;  // in the order in which they were tried
  // The last that passes and the first that fails; what lies between them was skipped.
  std::optional<std::size_t> last_good, first_bad;
  std::vector<std::size_t> between;
  double confidence = 0;  // that the first bad one is right, given that builds stay bad
};

// Tries builds 0 .. n-1, which are good up to some one and bad from there on; the rates are those
// that the answers of `try_build` were decided by. The last build is tried first, then the first:
// without both there is nothing to look for. A build is tried once.
FirstBad find_first_bad(std::size_t n, const std::function<BuildProbe(std::size_t)>& try_build,
                        const std::function<statistics::Rates()>& rates);

}  // namespace redzone::bisect

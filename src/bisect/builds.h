// Finds the first bad build in an ordered list if a bad build does not always fail.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bisect/prober.h"

namespace redzone::bisect {

struct BuildProbe {
  Probe probe;
  std::string skipped;  // why the build could not be tried; "" if it was tried
};

struct BuildStep {
  std::size_t build = 0;
  BuildProbe answer;
  // After this step: the build most likely to be the first bad one, and the probability that it is.
  std::size_t likely = 0;
  double confidence = 0;
};

struct FirstBad {
  std::vector<BuildStep> path;  // in the order of the attempts
  // The latest build that fails in another way; null if there is none.
  const BuildStep* differing() const;
  // The last build that passes and the first that fails; builds between them were skipped, fail in
  // another way or remain undecided.
  std::optional<std::size_t> last_good, first_bad;
  std::vector<std::size_t> between;
  double confidence = 0;  // probability that the first bad build is right, if builds stay bad
};

// Searches builds 0 .. n-1, which are assumed good up to some index and bad after it. `rates`
// returns the failure rates with which `try_build` decides. The last build is tried first, then the
// first: unless they are bad and good, there is nothing to search. Each build is tried at most
// once.
FirstBad find_first_bad(std::size_t n, const std::function<BuildProbe(std::size_t)>& try_build,
                        const std::function<statistics::Rates()>& rates);

}  // namespace redzone::bisect

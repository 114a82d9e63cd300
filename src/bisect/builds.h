// Finds the first bad build in an ordered list when a bad build does not always fail.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bisect/prober.h"

namespace redzone::bisect {

struct BuildProbe {
  Probe probe;
  std::string skipped;  // why it could not be tried; "" if it was
};

struct BuildStep {
  std::size_t build = 0;
  BuildProbe answer;
  // After this step: the build most likely to be the first bad one, and the chance that it is.
  std::size_t likely = 0;
  double confidence = 0;
};

struct FirstBad {
  std::vector<BuildStep> path;  // in the order in which they were tried
  // The latest build that fails in another way; null: none.
  const BuildStep* differing() const;
  // The last that passes and the first that fails; the builds between them were skipped, or fail in
  // another way.
  std::optional<std::size_t> last_good, first_bad;
  std::vector<std::size_t> between;
  double confidence = 0;  // chance that the first bad one is right, if builds stay bad
};

// Tries builds 0 .. n-1, which are good up to some index and bad after it; the rates are those by
// which `try_build` decides. The last build is tried first, then the first: unless they are bad and
// good there is nothing to search. A build is tried once.
FirstBad find_first_bad(std::size_t n, const std::function<BuildProbe(std::size_t)>& try_build,
                        const std::function<statistics::Rates()>& rates);

}  // namespace redzone::bisect

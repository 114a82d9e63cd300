// Runs all stations of triage in sequence, for a caller that waits for one finding.
#pragma once

#include "campaign/stations.h"

namespace redzone::campaign {

class Triage {
 public:
  Triage(exec::Runner& runner, const oracles::Catalog& catalog, SimplifyFor simplify,
         FindingSink& sink, TriageOptions options);

  struct Settled {
    Finding finding;
    bool is_new = false;              // see Case
    std::optional<Alarm> other = {};  // see Case
    // Set by reduce_again(): the first runs of the stored plan.
    Reliability now = {};
  };
  // `finding` is the recorded suspect. Stores the outcome.
  Result<Settled> run(Finding finding, const Suspect& suspect, const TargetSpec& spec);

  // Reduces a stored finding further, judged by the finding's oracle. A confirmed finding keeps its
  // signature, whatever other failures smaller plans show.
  Result<Settled> reduce_again(Finding finding, const TargetSpec& spec);

 private:
  Workshop shop_for(const TargetSpec& spec) const {
    return {runner_, catalog_, simplify_, sink_, spec, options_};
  }

  exec::Runner& runner_;
  const oracles::Catalog& catalog_;
  SimplifyFor simplify_;
  FindingSink& sink_;
  TriageOptions options_;
};

}  // namespace redzone::campaign

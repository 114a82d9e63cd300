// All stations of triage, one after another, for somebody who waits for one finding.
#pragma once

#include "campaign/stations.h"

namespace redzone::campaign {

class Triage {
 public:
  Triage(exec::Runner& runner, const oracles::Catalog& catalog, SimplifyFor simplify,
         FindingSink& sink, TriageOptions options);

  struct Settled {
    Finding finding;
    bool is_new = false;              // as of Case
    std::optional<Alarm> other = {};  // as of Case
    // Of reduce_again(): the runs of the stored plan that it began with.
    Reliability now = {};
  };
  // `finding` is the recorded suspect. Stores what became of it.
  Result<Settled> run(Finding finding, const Suspect& suspect, const TargetSpec& spec);

  // Reduces further what is stored already. The oracle is the finding's. What is confirmed keeps
  // its signature, whatever else smaller plans show.
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

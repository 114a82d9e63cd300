// How much is done for a suspect.
#pragma once

#include <redzone/spec.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <vector>

#include "campaign/attributor.h"
#include "campaign/reducer.h"

namespace redzone::campaign {

struct TriageOptions {
  std::chrono::milliseconds deadline{10000};  // of a trial, also for the final confirmation
  // A hang costs its deadline each time it is shown. While its cause is looked for and it is
  // reduced this one will do; what is said of it is measured with the other.
  std::chrono::milliseconds hang_deadline{750};
  // Runs of the plan as it was classified, beside the one that classified it.
  int confirm_runs = 4;
  // The measure that is stored, in runs that come after all others: of a failure that showed in
  // every run until then, and of one that did not.
  int final_runs = 10;
  int most_runs = 64;
  // The first runs of each value of each axis (attribution.h); 0: no axis matters on this device.
  int attribution_runs = 3;
  // For devices on which a worker takes long to start: look for the cause and reduce in used
  // workers, where that gives the same answer as fresh ones, and spare workers otherwise.
  bool reuse_workers = false;
  std::size_t parallel = 4;  // plans judged at the same time
  std::size_t reduce_evaluations = 5000;
  // For all that is reduced of one finding.
  std::chrono::milliseconds reduce_time{30000};
  std::vector<Attributor*> attributors;  // borrowed; asked of each reduced finding, in this order
  std::function<bool()> stop = {};       // true: finish with what is there
  // True: trials that run are ended at once. Unset: they end by their deadline.
  std::function<bool()> cut_off = {};
  // True if the stop was requested by the user, not by an expired budget. Unset: every stop counts
  // as a request.
  std::function<bool()> interrupted = {};

  bool stopped() const { return stop && stop(); }
};

using SimplifyFor = std::function<Simplify(const TargetSpec&)>;

}  // namespace redzone::campaign

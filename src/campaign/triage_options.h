// Limits on the effort spent on a suspect.
#pragma once

#include <redzone/spec.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "campaign/attributor.h"
#include "campaign/reducer.h"
#include "core/verdict.h"
#include "exec/executor.h"

namespace redzone::campaign {

struct TriageOptions {
  std::chrono::milliseconds deadline{10000};  // of a trial, also for the final confirmation
  // Each occurrence of a hang costs a full deadline. This shorter one is used to search for the
  // cause of a hang and to reduce it; the stored counts are measured with `deadline`.
  std::chrono::milliseconds hang_deadline{750};
  // Further runs of the classified plan, after the run that classified it.
  int confirm_runs = 4;
  // Runs of the stored measurement, made after all others: final_runs for a failure that showed in
  // every run before, up to most_runs for one that did not; fewer if each run costs a worker that
  // starts slowly.
  int final_runs = 10;
  int most_runs = 64;
  // First runs of each value of each axis (attribution.h). 0: skips attribution, because no axis
  // matters on this device.
  int attribution_runs = 3;
  // For devices on which workers start slowly: finds the cause and reduces in used workers if they
  // give the same answer as fresh ones, and otherwise uses few workers.
  bool reuse_workers = false;
  // The trials of a question share a worker, in which state that a static holds may hide or cause a
  // difference.
  bool groups_trials = false;
  // A target may see state that other targets left in its worker, as with targets of one Python
  // file. If false, a worker that has only run other targets is as good as a fresh one for most
  // questions.
  bool shared_state = false;
  exec::Reuse in_new_workers() const {
    return reuse_workers && !shared_state ? exec::Reuse::of_other_targets : exec::Reuse::none;
  }
  // Whether each failure of this kind costs a worker that starts slowly. Excludes hangs, which also
  // cost their deadline, which is more.
  bool costs_workers(FailKind kind) const {
    return reuse_workers && ends_trial(kind) && kind != FailKind::hang;
  }
  // Other work keeps the device busy during the trials for which has_contention() is true.
  bool seeds_decide_contention = false;
  // A fault reports the buffer that the access is beside. Only then can a canary failure be
  // recognized as a fault in other shapes.
  bool faults_name_buffers = true;
  std::size_t parallel = 4;  // fresh jobs at the same time; also maximum number of cases under
                             // triage
  std::size_t batch = 4;     // runs of plans that are tried together during a reduction
  // False if most plans of the target that fault with guard pages also lose their worker with wide
  // canaries, which then save nothing.
  bool canaries_help = true;
  // Jobs of one finding that are submitted together; further jobs wait for their turn again.
  std::size_t together = std::numeric_limits<std::size_t>::max();
  std::size_t reduce_evaluations = 5000;
  // Time limit for all reductions of one finding.
  std::chrono::milliseconds reduce_time{30000};
  // Time that the trials of this finding have taken so far, including the workers that they cost.
  // If set, reduce_time does not count the time in which the finding waits for trials of others.
  std::function<std::chrono::microseconds()> trial_time = {};
  // Returns the smallest other plan that was seen to fail in the same way, if any: a reduction
  // tries it first.
  std::function<std::optional<Plan>()> smallest_seen = {};
  std::vector<Attributor*> attributors;  // borrowed; run on each reduced finding, in this order
  std::function<bool()> stop = {};       // true: finish with the results so far
  // Returns true to end running trials at once. Unset: they end by their deadline.
  std::function<bool()> cut_off = {};
  // True if the stop was requested by the user, not by an expired budget. Unset: every stop counts
  // as a request.
  std::function<bool()> interrupted = {};

  // Whether this campaign is to reduce a confirmed finding that other machines may also have found.
  // Returns nothing while that is undecided and is then called again. Unset: always.
  std::function<std::optional<bool>(const Signature&)> reduces = {};

  // Accounts for calls of the functions in specs; may be null. See ReduceBudget.
  SpecCalls* spec_calls = nullptr;

  bool stopped() const { return stop && stop(); }
};

using SimplifyFor = std::function<Simplify(const TargetSpec&)>;

}  // namespace redzone::campaign

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
  // Each occurrence of a hang costs a full deadline. This shorter one is used while its cause is
  // looked for and it is reduced; the stored counts are measured with `deadline`.
  std::chrono::milliseconds hang_deadline{750};
  // Further runs of the plan as it was classified, after the one that classified it.
  int confirm_runs = 4;
  // Runs of the stored measurement, made after all others: final_runs for a failure that showed in
  // every run until then, up to most_runs for one that did not; fewer if each costs a worker that
  // starts slowly.
  int final_runs = 10;
  int most_runs = 64;
  // First runs of each value of each axis (attribution.h); 0: no axis matters on this device.
  int attribution_runs = 3;
  // For devices on which workers start slowly: finds the cause and reduces in used workers, where
  // these give the same answer as fresh ones, and uses few workers otherwise.
  bool reuse_workers = false;
  // The trials of a question share a worker, which may hide, or cause, what a static holds.
  bool groups_trials = false;
  // A target may see what others left in its worker, as those of one Python file do. If not, a
  // worker that has run none but other targets is as good as a fresh one for most questions.
  bool shared_state = false;
  exec::Reuse in_new_workers() const {
    return reuse_workers && !shared_state ? exec::Reuse::of_other_targets : exec::Reuse::none;
  }
  // Whether each failure of this kind costs a worker that starts slowly. A hang also costs its
  // deadline, which is more.
  bool costs_workers(FailKind kind) const {
    return reuse_workers && ends_trial(kind) && kind != FailKind::hang;
  }
  // Other work keeps the device busy beside the trials of which has_contention() says so.
  bool seeds_decide_contention = false;
  // A fault reports the buffer that the access is beside. Only then can a canary be recognized as a
  // fault of other shapes.
  bool faults_name_buffers = true;
  std::size_t parallel = 4;  // fresh jobs at the same time; also cases looked into
  std::size_t batch = 4;     // runs of plans that are tried together while one is reduced
  // Between wide canaries most plans of the target complete that fault between guard pages.
  bool canaries_help = true;
  // Jobs of one finding that are submitted together, if others wait for workers too.
  std::size_t together = std::numeric_limits<std::size_t>::max();
  std::size_t reduce_evaluations = 5000;
  // For all reductions of one finding.
  std::chrono::milliseconds reduce_time{30000};
  // What the trials of this finding have taken so far, with the workers that they cost. If set,
  // reduce_time does not count the time that they wait for the trials of others.
  std::function<std::chrono::microseconds()> trial_time = {};
  // A small plan that was seen to fail alike since, if there is one: a reduction tries it first.
  std::function<std::optional<Plan>()> smallest_seen = {};
  std::vector<Attributor*> attributors;  // borrowed; run on each reduced finding, in this order
  std::function<bool()> stop = {};       // true: finish with the results so far
  // Returns true if running trials are to be ended at once. Unset: they end by their deadline.
  std::function<bool()> cut_off = {};
  // True if the stop was requested by the user, not by an expired budget. Unset: every stop counts
  // as a request.
  std::function<bool()> interrupted = {};

  // Whether this campaign is to reduce a confirmed finding, which other machines may have met, too;
  // nothing as long as that is not decided: it is asked again. Unset: always.
  std::function<std::optional<bool>(const Signature&)> reduces = {};

  // Accounts for calls of the functions in specs; may be null. See ReduceBudget.
  SpecCalls* spec_calls = nullptr;

  bool stopped() const { return stop && stop(); }
};

using SimplifyFor = std::function<Simplify(const TargetSpec&)>;

}  // namespace redzone::campaign

// Reduces the failing plan of a case: in used workers, with wide canaries, in new workers.
#pragma once

#include <chrono>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "campaign/case.h"
#include "campaign/reducer.h"
#include "campaign/stations.h"
#include "core/verdict.h"

namespace redzone::campaign {

class Reduction {
 public:
  // The arguments outlive this object. `time`: for all reductions of the case together. The finding
  // of the case receives the counts of the reductions.
  Reduction(const Workshop& shop, Case& c, Evaluator& evaluator, std::chrono::milliseconds time);

  // Reduces the plan with the evaluator's current settings until it is minimal or the time is over.
  // `shown.answer` is then the answer for the smaller plan.
  void reduce(Shown& shown);
  // For faults if each costs a worker that starts slowly: reduces the plan in used workers with
  // wide canaries, with which most accesses out of bounds cost no worker, by whatever failure shows
  // there. The result is kept, and true returned, only if it still fails as the finding does with
  // guard pages.
  bool reduce_between_canaries(Shown& shown);
  // Tests the plans that are simpler than a minimal one in workers that have not run the target:
  // state that other plans left in used workers may have hidden that one of them fails. A plan with
  // fewer calls gets a worker of its own if the plan has few calls and fails in every run, because
  // often a call is needed only to overcome such state. Other candidates share a worker, the
  // simplest first, so that each runs only after simpler plans.
  void reduce_in_new_workers(Shown& shown);

 private:
  // Variants of a plan to try besides the plan itself.
  using Variants = std::function<std::vector<Plan>(const Plan& plan)>;

  void reduce_further(Shown& shown);  // the body of reduce_in_new_workers()
  // Number of schedules to try for a plan; 0 if schedules do not apply to the device or the plan.
  std::size_t schedules(const Plan& plan) const;
  // Number of schedules under which each smaller plan is tried, besides its own: 0 if the plan
  // fails under each.
  std::size_t schedules_to_try(const Shown& shown);
  // Reduces the plan with the candidates of `simplify`, each of which is also tried in its
  // variants; returns true if the plan became simpler. Must run inside timed().
  bool reduce_with(Shown& shown, const Simplify& simplify, const Variants& variants);
  // Returns the smallest plan that was seen to fail in the same way, in the mode of `plan`,
  // followed by `known`.
  std::vector<Plan> plans_to_try_first(const Plan& plan, std::vector<Plan> known) const;
  // Time that this reduction has used so far; see TriageOptions::trial_time.
  std::chrono::steady_clock::duration used() const;
  // Runs a reduction within the time that is left, and adds the time it took to the finding.
  void timed(const std::function<void()>& reduction);
  bool may_try_calls_alone(const Shown& shown) const;
  // True if the plan became simpler.
  bool reduce_once(Shown& shown, const Simplify& simplify);
  // Returns for each plan whether it fails with `signature`, from as many runs as are needed to
  // accept a pass, given how reliably the finding fails. A plan that fails only in a variant is
  // replaced by that variant. Plans that are undecided when the reduction time is over count as not
  // judged.
  std::vector<Tried> still_fails(const Oracle& oracle, const Signature& signature,
                                 const Variants& variants, std::span<Plan> plans);

  const Workshop& shop_;
  Case& case_;
  Finding& finding_;
  Evaluator& evaluator_;
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  std::chrono::microseconds trial_time_before_{0};  // TriageOptions::trial_time at construction
  std::size_t schedules_ = 0;                       // schedules_to_try() of the last reduce()
  // Plans that failed in the last batch that had a failure, in the form returned to the reducer.
  std::vector<std::pair<Plan, Answer>> failing_;
  bool noting_others_ = true;  // other failures that occur become suspects
  std::chrono::steady_clock::duration left_;
  std::chrono::steady_clock::duration until_{0};  // used() at the end of the current reduction
};

}  // namespace redzone::campaign

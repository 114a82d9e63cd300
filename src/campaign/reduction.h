// Reduces the failing plan of a case: in used workers, between canaries, in new workers.
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
  // of the case gets their counts.
  Reduction(const Workshop& shop, Case& c, Evaluator& evaluator, std::chrono::milliseconds time);

  // Reduces the plan as the evaluator is set to run it, until it is minimal or the time is over.
  // The answer is then that of the smaller plan.
  void reduce(Shown& shown);
  // Where a fault costs a worker that starts slowly: reduces the plan in used workers with wide
  // canaries, between which most accesses out of bounds cost nothing if they help, by whatever
  // failure shows there. The result counts only if it still fails as the finding does, between
  // guard pages; then true.
  bool reduce_between_canaries(Shown& shown);
  // Asks workers that have not run the target about the plans that are simpler than a minimal one:
  // what other plans left in used workers may have hidden that one of them fails. Each plan with
  // fewer calls has a worker of its own, because often a call is needed only to overcome what was
  // left, if they are few and the failure shows in every run; many others share one, the simplest
  // first, so that each follows none but simpler plans.
  void reduce_in_new_workers(Shown& shown);

 private:
  // Variants of a plan to try besides the plan itself.
  using Variants = std::function<std::vector<Plan>(const Plan& plan)>;

  void reduce_further(Shown& shown);  // for reduce_in_new_workers()
  // Number of schedules of the plan that are tried, as far as the device has any.
  std::size_t schedules(const Plan& plan) const;
  // Number of schedules under which each smaller plan is tried, besides its own: none if the plan
  // fails under each.
  std::size_t schedules_to_try(const Shown& shown);
  // Reduces the plan by the candidates of `simplify`, each of which is also tried in its variants;
  // true if that made it simpler. For use within timed().
  bool reduce_with(Shown& shown, const Simplify& simplify, const Variants& variants);
  // `known`, and the smallest plan that was seen to fail alike, in the mode of `plan`.
  std::vector<Plan> plans_to_try_first(const Plan& plan, std::vector<Plan> known) const;
  // What this reduction has used so far; see TriageOptions::trial_time.
  std::chrono::steady_clock::duration used() const;
  // Runs a reduction within the time that is left, and adds what it took to the finding.
  void timed(const std::function<void()>& reduction);
  bool may_try_calls_alone(const Shown& shown) const;
  // True if the plan became simpler.
  bool reduce_once(Shown& shown, const Simplify& simplify);
  // For each plan whether it fails with `signature`, by as many runs as are needed to accept a
  // pass, given how reliably the finding fails. A plan that fails only in a variant is replaced by
  // that variant. Plans that are undecided when the time for reducing is over are not judged.
  std::vector<Tried> still_fails(const Oracle& oracle, const Signature& signature,
                                 const Variants& variants, std::span<Plan> plans);

  const Workshop& shop_;
  Case& case_;
  Finding& finding_;
  Evaluator& evaluator_;
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  std::chrono::microseconds trial_time_before_{0};  // TriageOptions::trial_time when it began
  std::size_t schedules_ = 0;                       // schedules_to_try() of the last reduce()
  // Plans that failed when plans were last tried together and one did, as the reducer got them.
  std::vector<std::pair<Plan, Answer>> failing_;
  bool noting_others_ = true;  // other failures that are met become suspects
  std::chrono::steady_clock::duration left_;
  std::chrono::steady_clock::duration until_{0};  // used() at the end of the current reduction
};

}  // namespace redzone::campaign

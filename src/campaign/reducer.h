// Makes a failing plan as small as it gets.
//
// Greedy descent: the first plan that still fails and is simpler as it failed becomes the plan,
// until none does (1-minimal, if all of them were judged) or the budget ends, and it says which.
// Each step forward is strictly simpler, so there are finitely many. What "simpler" means is the
// simplifier's; what "still fails" means is the caller's, who must hold on to the signature.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/plan.h"
#include "core/reduction.h"

namespace redzone::campaign {

// Candidates, most aggressive first; nothing when there are no more.
using PlanStream = std::function<std::optional<Plan>()>;
struct Simplify {
  std::function<PlanStream(const Plan& plan)> candidates;  // each simpler than `plan`
  // A strict order without endless descent.
  std::function<bool(const Plan& a, const Plan& b)> simpler;
};

enum class Tried : std::uint8_t {
  fails,
  passes,      // as far as runs can tell; or it fails otherwise, or the target refuses it
  not_judged,  // no run of it says either
};

// What became of each plan. Plans of one call may run at the same time. A plan that fails only in a
// variant, under another schedule for instance, is replaced by that variant.
using StillFails = std::function<std::vector<Tried>(std::span<Plan>)>;

struct ReduceBudget {
  std::size_t evaluations = 1000;  // plans asked about
  std::chrono::steady_clock::time_point until = std::chrono::steady_clock::time_point::max();
  std::function<bool()> stop = {};  // true ends it early
  std::size_t batch = 1;            // plans asked about together
};

struct Reduced {
  Plan plan;
  ReductionEnd end = ReductionEnd::none;  // minimal, not_judged, plans, time or interrupted
  std::size_t evaluations = 0;
};

// `plan` fails. Answers are remembered by plan, so that no plan is asked about twice.
Reduced reduce(Plan plan, const Simplify& simplify, const StillFails& still_fails,
               const ReduceBudget& budget);

}  // namespace redzone::campaign

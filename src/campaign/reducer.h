// Makes a failing plan as small as possible.
//
// Greedy descent: the first simpler plan that still fails becomes the plan, until no candidate
// fails (1-minimal, if all were judged) or the budget ends; the result reports which. Each step is
// strictly simpler, so there are finitely many. The simplifier defines "simpler"; the caller
// defines "still fails" and must hold on to the signature.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/plan.h"
#include "core/reduction.h"
#include "core/spec_calls.h"

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
  passes,      // as far as the runs show; also if it fails otherwise or the target refuses it
  not_judged,  // no run could be judged
};

// The outcome of each plan. Plans of one call may run at the same time. A plan that fails only in a
// variant, for instance under another schedule, is replaced by that variant.
using StillFails = std::function<std::vector<Tried>(std::span<Plan>)>;

struct ReduceBudget {
  std::size_t evaluations = 1000;  // plans judged
  std::function<bool()> time_is_up = {};
  std::function<bool()> stop = {};  // true ends it early
  std::size_t batch = 1;            // plans judged together
  // Simplifying a plan calls functions of its spec, which may be slow: no such call starts once the
  // budget is spent. Null: nothing is known of these calls.
  SpecCalls* spec_calls = nullptr;
};

struct Reduced {
  Plan plan;
  ReductionEnd end = ReductionEnd::none;  // minimal, not_judged, plans, time or interrupted
  std::size_t evaluations = 0;
};

// `plan` must fail. Outcomes are cached by plan, so no plan is judged twice.
Reduced reduce(Plan plan, const Simplify& simplify, const StillFails& still_fails,
               const ReduceBudget& budget);

}  // namespace redzone::campaign

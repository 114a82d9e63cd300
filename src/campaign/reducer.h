// Makes a failing plan as small as possible.
//
// Greedy descent: the first simpler plan that still fails replaces the plan, until no candidate
// fails (1-minimal, if all were judged) or the budget ends; the result reports which. Each step is
// strictly simpler, so there are finitely many. The simplifier defines "simpler"; the caller
// defines "still fails" and must keep the signature fixed.
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

// A stream of candidates, the most aggressive first; returns nothing at its end.
using PlanStream = std::function<std::optional<Plan>()>;
struct Simplify {
  std::function<PlanStream(const Plan& plan)> candidates;  // each simpler than `plan`
  // A strict order without endless descent.
  std::function<bool(const Plan& a, const Plan& b)> simpler;
};

enum class Tried : std::uint8_t {
  fails,
  passes,      // no run showed the failure; also if it fails differently or is refused
  not_judged,  // no run could be judged
};

// Returns the outcome of each plan. Plans of one call may run at the same time. A plan that fails
// only in a variant, for instance under another schedule, is replaced by that variant.
using StillFails = std::function<std::vector<Tried>(std::span<Plan>)>;

struct ReduceBudget {
  std::size_t evaluations = 1000;  // plans judged
  std::function<bool()> time_is_up = {};
  std::function<bool()> stop = {};  // returns true to end the reduction early
  std::size_t batch = 1;            // plans judged together
  // Limits the calls of spec functions made to simplify a plan, which may be slow: no such call
  // starts once the budget is spent. Null: these calls are not limited.
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

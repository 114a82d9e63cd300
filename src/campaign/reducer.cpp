#include "campaign/reducer.h"

#include <algorithm>
#include <unordered_set>

#include "core/wire.h"

namespace redzone::campaign {
namespace {

// The exhausted part of the budget; ReductionEnd::none if no part is exhausted.
ReductionEnd spent(const ReduceBudget& budget, std::size_t evaluations) {
  if (budget.stop && budget.stop()) return ReductionEnd::interrupted;
  if (evaluations >= budget.evaluations) return ReductionEnd::plans;
  if (budget.time_is_up && budget.time_is_up()) return ReductionEnd::time;
  return ReductionEnd::none;
}

// Returns the next candidate; throws SpecCallsEnded once the budget is spent. The limit does not
// outlive this call, because other tasks run while a batch is judged.
std::optional<Plan> next_of(const PlanStream& candidates, const ReduceBudget& budget,
                            std::size_t evaluations) {
  const SpecCalls::Until end(budget.spec_calls, [&budget, evaluations] {
    return spent(budget, evaluations) != ReductionEnd::none;
  });
  return candidates();
}

}  // namespace

Reduced reduce(Plan plan, const Simplify& simplify, const StillFails& still_fails,
               const ReduceBudget& budget) {
  Reduced out{std::move(plan), ReductionEnd::none, 0};
  std::unordered_set<std::string> passed, not_judged;  // plans already judged
  for (;;) {
    PlanStream candidates = simplify.candidates(out.plan);
    bool exhausted = false;
    bool improved = false;
    bool all_judged = true;
    const std::size_t size = std::max<std::size_t>(budget.batch, 1);
    while (!improved && !exhausted) {
      out.end = spent(budget, out.evaluations);
      if (out.end != ReductionEnd::none) return out;
      std::vector<Plan> batch;
      while (batch.size() < size) {
        std::optional<Plan> candidate;
        try {
          candidate = next_of(candidates, budget, out.evaluations);
        } catch (const SpecCallsEnded&) {
          out.end = spent(budget, out.evaluations);
          if (out.end == ReductionEnd::none) throw;  // thrown by a caller's limit
          return out;
        }
        if (!candidate) {
          exhausted = true;
          break;
        }
        const std::string bytes = wire::encode(*candidate);
        if (not_judged.contains(bytes))
          all_judged = false;
        else if (!passed.contains(bytes))
          batch.push_back(std::move(*candidate));
      }
      if (batch.empty()) continue;
      std::vector<std::string> asked;
      asked.reserve(batch.size());
      for (const auto& candidate : batch) asked.push_back(wire::encode(candidate));
      const auto tried = still_fails(batch);
      out.evaluations += batch.size();
      for (std::size_t i = 0; i < batch.size(); ++i) {
        if (tried[i] == Tried::fails && simplify.simpler(batch[i], out.plan)) {
          out.plan = std::move(batch[i]);
          improved = true;
          break;
        }
        const bool judged = tried[i] != Tried::not_judged;
        all_judged = all_judged && judged;
        (judged ? passed : not_judged).insert(std::move(asked[i]));
      }
    }
    if (!improved) {
      // The budget may have ended while the last plans were judged.
      out.end = all_judged ? ReductionEnd::minimal : spent(budget, out.evaluations);
      if (out.end == ReductionEnd::none) out.end = ReductionEnd::not_judged;
      return out;
    }
  }
}

}  // namespace redzone::campaign

#include "campaign/reducer.h"

#include <algorithm>
#include <unordered_set>

#include "core/wire.h"

namespace redzone::campaign {
namespace {

// What of the budget is spent; `none` when there is some left.
ReductionEnd spent(const ReduceBudget& budget, std::size_t evaluations) {
  if (budget.stop && budget.stop()) return ReductionEnd::interrupted;
  if (evaluations >= budget.evaluations) return ReductionEnd::plans;
  if (std::chrono::steady_clock::now() >= budget.until) return ReductionEnd::time;
  return ReductionEnd::none;
}

}  // namespace

Reduced reduce(Plan plan, const Simplify& simplify, const StillFails& still_fails,
               const ReduceBudget& budget) {
  Reduced out{std::move(plan), ReductionEnd::none, 0};
  std::unordered_set<std::string> passed;  // plans known not to fail
  for (;;) {
    PlanStream candidates = simplify.candidates(out.plan);
    bool exhausted = false;
    bool improved = false;
    const std::size_t size = std::max<std::size_t>(budget.batch, 1);
    while (!improved && !exhausted) {
      out.end = spent(budget, out.evaluations);
      if (out.end != ReductionEnd::none) return out;
      std::vector<Plan> batch;
      while (batch.size() < size) {
        auto candidate = candidates();
        if (!candidate) {
          exhausted = true;
          break;
        }
        if (!passed.contains(wire::encode(*candidate))) batch.push_back(std::move(*candidate));
      }
      if (batch.empty()) continue;
      std::vector<std::string> asked;
      for (const auto& candidate : batch) asked.push_back(wire::encode(candidate));
      const auto fails = still_fails(batch);
      out.evaluations += batch.size();
      for (std::size_t i = 0; i < batch.size(); ++i) {
        if (fails[i] && simplify.simpler(batch[i], out.plan)) {
          out.plan = std::move(batch[i]);
          improved = true;
          break;
        }
        passed.insert(std::move(asked[i]));
      }
    }
    if (!improved) {
      out.end = ReductionEnd::minimal;
      return out;
    }
  }
}

}  // namespace redzone::campaign

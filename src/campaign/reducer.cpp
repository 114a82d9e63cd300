#include "campaign/reducer.h"

#include <algorithm>
#include <unordered_set>

#include "core/wire.h"

namespace redzone::campaign {
namespace {

bool over(const ReduceBudget& budget, std::size_t evaluations) {
  return evaluations >= budget.evaluations || std::chrono::steady_clock::now() >= budget.until ||
         (budget.stop && budget.stop());
}

}  // namespace

Reduced reduce(Plan plan, const Simplify& simplify, const StillFails& still_fails,
               const ReduceBudget& budget) {
  Reduced out{std::move(plan), false, 0};
  std::unordered_set<std::string> passed;  // plans known not to fail
  for (;;) {
    PlanStream candidates = simplify(out.plan);
    bool exhausted = false;
    bool improved = false;
    const std::size_t size = std::max<std::size_t>(budget.batch, 1);
    while (!improved && !exhausted) {
      if (over(budget, out.evaluations)) return out;
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
        if (fails[i]) {
          out.plan = std::move(batch[i]);
          improved = true;
          break;
        }
        passed.insert(std::move(asked[i]));
      }
    }
    if (!improved) {
      out.minimal = true;
      return out;
    }
  }
}

}  // namespace redzone::campaign

#include "campaign/plan_variants.h"

#include <algorithm>

namespace redzone::campaign {
namespace {

constexpr std::uint64_t kSeeds = 3;

Plan with_seed(Plan plan, std::uint64_t seed) {
  for (auto& step : plan.steps)
    if (auto* call = std::get_if<CallStep>(&step)) call->call.seed = seed;
  return plan;
}

}  // namespace

std::vector<Plan> other_schedules(const Plan& plan, std::size_t count) {
  std::vector<Plan> out(count, plan);
  for (std::size_t s = 0; s < count; ++s) out[s].mode.schedule_seed = s;
  return out;
}

std::vector<Plan> other_memory_and_data(const Plan& plan) {
  std::vector<Plan> out;
  for (const auto placement : {Placement::guard_after, Placement::guard_before}) {
    Plan placed = plan;
    placed.mode.placement = placement;
    std::vector<Plan> forms{placed};
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) forms.push_back(with_seed(placed, seed));
    for (auto& form : forms)
      if (form != plan && std::find(out.begin(), out.end(), form) == out.end())
        out.push_back(std::move(form));
  }
  return out;
}

}  // namespace redzone::campaign

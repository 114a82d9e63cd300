#include "campaign/history.h"

#include <algorithm>
#include <iterator>

namespace redzone::campaign {

Plan as_run(const Plan& plan, const TrialSpec& trial) {
  Plan out = plan;
  out.mode = trial.mode;
  if (trial.order.empty()) {
    if (trial.plain_graphs) out.steps = with_plain_graphs(plan).steps;
    return out;
  }
  const auto calls = calls_of(plan);
  out.steps.clear();
  for (auto index : trial.order) {
    RZ_CHECK(index < calls.size());
    out.steps.emplace_back(CallStep{calls[index]->call, 1, 0});
  }
  return out;
}

Plan with_history(const Plan& plan, const exec::WorkerLog& log, std::size_t log_size,
                  std::span<const Plan> earlier_trials) {
  std::vector<Step> before;
  const auto append = [&](const Plan& p) {
    // Graphs are removed because their numbers would clash with those of the other plans.
    auto steps = has_graphs(p) ? with_plain_graphs(p).steps : p.steps;
    before.insert(before.end(), std::make_move_iterator(steps.begin()),
                  std::make_move_iterator(steps.end()));
  };
  for (const auto& job : std::span(log).first(std::min(log_size, log.size()))) {
    if (job.plan->target != plan.target) continue;
    for (const auto& trial : job.trials) append(as_run(*job.plan, trial));
  }
  for (const auto& p : earlier_trials)
    if (p.target == plan.target) append(p);

  const std::size_t room = kMaxSteps - std::min(kMaxSteps, plan.steps.size());
  if (before.size() > room) {
    const auto first = before.begin() + static_cast<std::ptrdiff_t>(room / 2);
    before.erase(first, first + static_cast<std::ptrdiff_t>(before.size() - room));
  }
  Plan out = plan;
  out.steps = std::move(before);
  out.steps.insert(out.steps.end(), plan.steps.begin(), plan.steps.end());
  return out;
}

}  // namespace redzone::campaign

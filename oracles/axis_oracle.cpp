#include "oracles/axis_oracle.h"

#include "oracles/checks.h"
#include "oracles/orders.h"

namespace redzone::oracles {

AxisOracle::AxisOracle(std::string name, FailKind kind, std::string claim, Change change,
                       Change base)
    : name_(std::move(name)),
      kind_(kind),
      claim_(std::move(claim)),
      change_(std::move(change)),
      base_(std::move(base)) {}

AxisOracle::AxisOracle(const ModeAxis& axis)
    : name_(axis.oracle),
      kind_(axis.kind),
      claim_(axis.claim),
      change_(axis.vary),
      axis_(axis.name) {}

std::vector<std::string_view> AxisOracle::varies() const {
  if (axis_.empty()) return {};
  return {axis_};
}

std::vector<TrialSpec> AxisOracle::expand(const Plan& plan, const TargetSpec& spec) const {
  if (!can_compare(spec)) return {};
  TrialSpec same{plan.mode, {}, compares_by_reference(spec)};
  TrialSpec changed = same;
  if (base_) base_(plan, same);
  change_(plan, changed);
  if (changed == same) return {};  // the plan has nothing along this axis
  return {same, changed, same};
}

std::vector<TrialSpec> AxisOracle::unvaried(const Plan& plan, const TargetSpec& spec) const {
  auto trials = expand(plan, spec);
  if (!trials.empty()) trials[1] = trials[0];
  return trials;
}

Verdict AxisOracle::judge(const Plan& plan, const TargetSpec& spec,
                          std::span<const Observation> observations) const {
  if (can_compare(spec) && observations.empty())
    return {Outcome::not_applicable, name_, "the plan has nothing to vary", {}, -1};
  if (auto v = cannot_compare(name_, spec, observations)) return *v;
  auto difference = first_difference(spec, observations[0], observations[1]);
  if (first_difference(spec, observations[0], observations[2]))
    return {Outcome::inconclusive, name_, "two runs in the same mode differ", {}, -1};
  if (!difference && kind_ == FailKind::history)
    difference = first_inconsistency(spec, plan, observations[0]);
  if (!difference) return Verdict::pass(name_);
  // No call is before the first one, which is moved behind others in the trial that differs.
  const bool first = kind_ == FailKind::history && difference->call == 0;
  return depends(name_, kind_, plan, *difference,
                 first ? std::string_view("whether other calls run before it") : claim_);
}

AxisOracle history_oracle() {
  return {"history", FailKind::history, "the calls before it",
          [](const Plan& plan, TrialSpec& t) { t.order = reversed_order(plan); },
          [](const Plan& plan, TrialSpec& t) {
            if (has_graphs(plan) || has_streams(plan)) t.order = written_order(plan);
          }};
}

}  // namespace redzone::oracles

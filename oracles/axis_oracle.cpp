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

AxisOracle::AxisOracle(const ModeAxis& axis, std::size_t others)
    : name_(axis.oracle),
      kind_(axis.kind),
      claim_(axis.claim),
      change_(axis.vary),
      axis_(axis.name),
      others_(others) {}

std::vector<std::string_view> AxisOracle::varies() const {
  if (axis_.empty()) return {};
  return {axis_};
}

std::vector<TrialSpec> AxisOracle::expand(const Plan& plan, const TargetSpec& spec) const {
  if (!can_compare(spec)) return {};
  TrialSpec same{plan.mode, {}, compares_by_reference(spec)};
  TrialSpec changed = same;
  if (base_) base_(plan, same);
  std::vector<TrialSpec> trials{same};
  for (std::size_t i = 0; i < others_; ++i) {
    change_(plan, changed);
    if (changed == same) return {};  // the plan has nothing along this axis
    trials.push_back(changed);
  }
  trials.push_back(same);
  return trials;
}

std::vector<TrialSpec> AxisOracle::unvaried(const Plan& plan, const TargetSpec& spec) const {
  auto trials = expand(plan, spec);
  for (auto& trial : trials) trial = trials.front();
  return trials;
}

Verdict AxisOracle::judge(const Plan& plan, const TargetSpec& spec,
                          std::span<const Observation> observations) const {
  if (can_compare(spec) && observations.empty())
    return {Outcome::not_applicable, name_, "the plan has nothing to vary", {}, -1};
  Verdict verdict = judge_between(name_, kind_, plan, spec, observations, claim_);
  if (kind_ != FailKind::history) return verdict;
  if (verdict.outcome == Outcome::pass)
    if (const auto difference = first_inconsistency(spec, plan, observations[0]))
      return depends(name_, kind_, plan, *difference, claim_);
  // No call precedes the first one as written; the reordered trial runs others before it.
  if (verdict.failed() && verdict.call == 0)
    return depends(name_, kind_, plan, {verdict.call, verdict.signature.buffer},
                   "whether other calls run before it");
  return verdict;
}

AxisOracle history_oracle() {
  return {"history", FailKind::history, "the calls before it",
          [](const Plan& plan, TrialSpec& t) { t.order = reversed_order(plan); },
          [](const Plan& plan, TrialSpec& t) {
            if (has_graphs(plan) || has_streams(plan)) t.order = written_order(plan);
          }};
}

}  // namespace redzone::oracles

#include "oracles/screen.h"

#include <fmt/format.h>

#include "oracles/checks.h"
#include "oracles/orders.h"
#include "oracles/scratch.h"

namespace redzone::oracles {

std::vector<TrialSpec> ScreenOracle::expand(const Plan& plan, const TargetSpec& spec) const {
  TrialSpec a;
  a.mode = plan.mode;
  a.mode.launch = options_.relaxed;
  a.mode.placement = Placement::guard_after;
  a.reference = compares_by_reference(spec);
  a.records_order = find_mode_axis(axes_, axis::kLaunch) != nullptr;  // see the catalog
  TrialSpec b;
  b.mode = with_allocator(plan.mode, Allocator::guard);
  b.mode.launch = Launch::blocking;
  b.mode.placement =
      plan.mode.allocator == Allocator::guard ? Placement::guard_before : Placement::guard_after;
  for (const auto& axis : axes_)
    if (axis.screened) axis.vary(plan, b);
  b.order = reversed_order(plan);
  b.reference = true;
  return {a, b};
}

Verdict ScreenOracle::judge(const Plan& plan, const TargetSpec& spec,
                            std::span<const Observation> observations) const {
  Verdict verdict = judge_trials(plan, spec, observations);
  verdict.reference =
      compared_calls(plan, spec, observations.size() > 1 ? &observations[1] : nullptr);
  return verdict;
}

Verdict ScreenOracle::judge_trials(const Plan& plan, const TargetSpec& spec,
                                   std::span<const Observation> observations) const {
  for (const auto& o : observations)
    if (auto v = judge_fault(name(), plan, o); v && !cannot_judge(name(), o)) return *v;
  // Evidence from one trial counts even if another cannot be judged.
  for (const auto& o : observations)
    if (shows_writes(o))
      if (auto v = judge_canaries(name(), plan, o)) return *v;
  for (const auto& o : observations)
    if (auto v = cannot_judge(name(), o)) return *v;
  if (observations.size() < 2)
    return {Outcome::inconclusive, std::string(name()), "the second trial was not run", {}, -1};
  const Observation& a = observations[0];
  if (auto v = judge_scratch(name(), plan, a)) return *v;
  const Observation& b = observations[1];
  if (spec.deterministic) {
    auto difference = first_difference(spec, a, b);
    if (!difference) difference = first_inconsistency(spec, plan, a);
    if (!difference) difference = first_inconsistency(spec, plan, b);
    if (difference) {
      Signature s;
      s.kind = FailKind::divergence;
      s.target = plan.target;
      s.buffer = difference->tensor;
      return fail(name(), s, difference->call,
                  fmt::format("'{}' of {} differs between two ways to run the plan", s.buffer,
                              describe_call(plan, difference->call)));
    }
  }
  // If digests are not compared, the relaxed trial was compared with the reference, too.
  for (const Observation* o : {&a, &b})
    if (auto v = judge_reference(name(), plan, *o)) return *v;
  return Verdict::pass(std::string(name()));
}

}  // namespace redzone::oracles

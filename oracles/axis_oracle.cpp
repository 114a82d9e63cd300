#include "oracles/axis_oracle.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "oracles/checks.h"
#include "oracles/orders.h"

namespace redzone::oracles {
namespace {

constexpr std::string_view kNoCall = "no call";

// Lists the wrong calls, such as "call 2 (N = 65)", or returns kNoCall; empty if no call was
// compared with the reference.
std::optional<std::string> wrong_calls(const Plan& plan, const Observation& o) {
  std::vector<std::string> wrong;
  bool known = false;
  for (const auto& call : o.calls) {
    known = known || !call.references.empty();
    if (std::any_of(call.references.begin(), call.references.end(),
                    [](const ReferenceObservation& r) { return r.mismatches > 0; }))
      wrong.push_back(describe_call(plan, call.call));
  }
  if (!known) return std::nullopt;
  return wrong.empty() ? std::string(kNoCall) : fmt::format("{}", fmt::join(wrong, " and "));
}

// The result of the reference for both orders; "" unless both were compared with the reference.
std::string judged_by_reference(const Plan& plan, std::span<const Observation> observations) {
  if (observations.size() < 2) return "";
  const auto written = wrong_calls(plan, observations[0]);
  const auto reversed = wrong_calls(plan, observations[1]);
  if (!written || !reversed) return "";
  return fmt::format(
      "; against the reference {} is wrong in the order of the plan, and {} in "
      "reverse",
      *written, *reversed);
}

}  // namespace

AxisOracle::AxisOracle(std::string name, FailKind kind, std::string claim, Change change,
                       Change base)
    : name_(std::move(name)),
      kind_(kind),
      claim_(std::move(claim)),
      change_(std::move(change)),
      base_(std::move(base)) {}

AxisOracle::AxisOracle(const ModeAxis& axis, Change with_axis, Change without_axis,
                       Change also_last)
    : AxisOracle(std::string(axis.oracle), axis.kind, std::string(axis.claim), std::move(with_axis),
                 std::move(without_axis)) {
  axis_ = axis.name;
  also_last_ = std::move(also_last);
}

AxisOracle::AxisOracle(const ModeAxis& axis)
    : name_(axis.oracle),
      kind_(axis.kind),
      claim_(axis.claim),
      change_(axis.vary),
      axis_(axis.name),
      others_(axis.compared) {}

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
  if (also_last_) also_last_(plan, same);
  trials.push_back(same);
  return trials;
}

std::vector<TrialSpec> AxisOracle::unvaried(const Plan& plan, const TargetSpec& spec) const {
  auto trials = expand(plan, spec);
  // A reference that is only needed to check the correctness of the results is not used here.
  if (!trials.empty()) trials.front().reference = compares_by_reference(spec);
  for (auto& trial : trials) trial = trials.front();
  return trials;
}

Verdict AxisOracle::judge(const Plan& plan, const TargetSpec& spec,
                          std::span<const Observation> observations) const {
  if (can_compare(spec) && observations.empty())
    return {Outcome::not_applicable, name_, "the plan has nothing to vary", {}, -1};
  if (also_last_)
    if (const auto wrong = wrong_calls(plan, observations.front()); wrong && *wrong != kNoCall)
      return {Outcome::inconclusive, name_, *wrong + " is wrong without the change", {}, -1};
  Verdict verdict = judge_between(name_, kind_, plan, spec, observations, claim_);
  if (kind_ != FailKind::history) return verdict;
  if (verdict.outcome == Outcome::pass)
    if (const auto difference = first_inconsistency(spec, plan, observations[0]))
      return depends(name_, kind_, plan, *difference, claim_);
  if (!verdict.failed()) return verdict;
  // A call may differ because of the calls before it in the plan's order or in reverse, or because
  // a later call writes over its outputs. If equal calls of the plan as written differ, the failure
  // names the later one, which differs from an earlier one.
  std::optional<Difference> among_equals;
  if (verdict.call == 0) among_equals = first_inconsistency(spec, plan, observations[0]);
  verdict = among_equals ? depends(name_, kind_, plan, *among_equals, claim_)
                         : depends(name_, kind_, plan, {verdict.call, verdict.signature.buffer},
                                   "the order of the calls: it differs when they run in reverse");
  verdict.reason += judged_by_reference(plan, observations);
  return verdict;
}

namespace {

// Compares plans that set the axis with the same plans without it; `common` is applied to each
// trial first.
AxisOracle with_and_without(std::string_view axis, const AxisOracle::Change& common) {
  return {mode_axis(axis), common,
          [axis, common](const Plan& plan, TrialSpec& t) {
            common(plan, t);
            mode_axis(axis).vary(plan, t);
          },
          [](const Plan& plan, TrialSpec& t) {
            mode_axis(axis::kPoison).vary(plan, t);
            if (!has_graphs(plan) && !has_streams(plan)) t.order = reversed_order(plan);
          }};
}

}  // namespace

AxisOracle address_oracle() {
  return with_and_without("addresses", [](const Plan& plan, TrialSpec& t) {
    mode_axis(axis::kLaunch).vary(plan, t);
    t.reference = true;
  });
}

AxisOracle host_thread_oracle() {
  return with_and_without("callers", [](const Plan&, TrialSpec& t) { t.reference = true; });
}

AxisOracle history_oracle() {
  return {"history", FailKind::history, "the calls before it",
          [](const Plan& plan, TrialSpec& t) { t.order = reversed_order(plan); },
          [](const Plan& plan, TrialSpec& t) {
            if (has_graphs(plan) || has_streams(plan)) t.order = written_order(plan);
          }};
}

}  // namespace redzone::oracles

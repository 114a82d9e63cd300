#include "oracles/checks.h"
#include "oracles/scratch.h"

namespace redzone::oracles {
namespace {

std::optional<Verdict> fault_of(const Plan& plan, const TrialSpec& trial, const Observation& o) {
  if (cannot_judge("fault", o)) return std::nullopt;
  if (o.end == End::hang && trial.mode.sanitizer != SanitizerTool::none) return std::nullopt;
  return judge_fault("fault", plan, o);
}

std::optional<Verdict> evidence_of_bytes(const Plan& plan, const TrialSpec& trial,
                                         const Observation& o) {
  if (auto v = judge_canaries("redzone", plan, o)) return v;
  if (o.end != End::completed) return std::nullopt;
  if (trial.order.empty())  // the scratch that earlier calls requested depends on the order
    if (auto v = judge_scratch("scratch", plan, o)) return v;
  return judge_reference("reference", plan, o);
}

}  // namespace

std::optional<Evidence> direct_evidence(const Plan& plan, std::span<const TrialSpec> trials,
                                        std::span<const Observation> observations) {
  RZ_CHECK(observations.size() <= trials.size());
  for (std::size_t t = 0; t < observations.size(); ++t)
    if (auto v = fault_of(plan, trials[t], observations[t])) return Evidence{t, std::move(*v)};
  for (std::size_t t = 0; t < observations.size(); ++t)
    if (shows_writes(observations[t]))
      if (auto v = evidence_of_bytes(plan, trials[t], observations[t]))
        return Evidence{t, std::move(*v)};
  return std::nullopt;
}

}  // namespace redzone::oracles

#include "campaign/refused.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "campaign/without_calls.h"
#include "core/repeats.h"

namespace redzone::campaign {
namespace {

bool look_alike(const Call& a, const Call& b) {
  return a.dims == b.dims && a.config == b.config && a.layouts == b.layouts;
}

bool repeats_calls(const Plan& plan) {
  const auto calls = calls_of(plan);
  return std::any_of(calls.begin(), calls.end(), [](const auto* step) { return step->repeat > 1; });
}

// The index of the call for which the trial was refused: the last one that it made.
std::optional<std::size_t> refused_call(const Plan& plan, const TargetSpec& spec,
                                        const TrialSpec& trial, const Observation& o) {
  if (o.end != End::unsupported || o.calls.empty()) return std::nullopt;
  if (!trial.order.empty()) {
    const auto is_observed = [&](std::uint32_t index) {
      return std::any_of(o.calls.begin(), o.calls.end(), [&](const CallObservation& call) {
        return call.call == static_cast<std::int32_t>(index);
      });
    };
    const auto last = std::find_if(trial.order.rbegin(), trial.order.rend(), is_observed);
    if (last == trial.order.rend()) return std::nullopt;
    return *last;
  }
  if (has_graphs(plan) || (repeats_calls(plan) && repeats_have_own_buffers(spec)))
    return std::nullopt;
  const std::int32_t last = o.calls.back().call;
  if (last < 0) return std::nullopt;
  return static_cast<std::size_t>(last);
}

}  // namespace

std::optional<Accepted> without_refused_calls(const Plan& plan, const TargetSpec& spec,
                                              std::span<const TrialSpec> trials,
                                              std::span<const Observation> observations) {
  const auto calls = calls_of(plan);
  for (std::size_t t = 0; t < std::min(trials.size(), observations.size()); ++t) {
    const auto index = refused_call(plan, spec, trials[t], observations[t]);
    if (!index || *index >= calls.size()) continue;
    const Call& call = calls[*index]->call;
    auto rest = without_calls(plan, [&](const Call& other) { return look_alike(other, call); });
    if (!rest) return std::nullopt;
    return Accepted{std::move(rest->plan), rest->left_out, observations[t].message};
  }
  return std::nullopt;
}

}  // namespace redzone::campaign

#include "campaign/refused.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace redzone::campaign {
namespace {

bool are_refused_alike(const Call& a, const Call& b) {
  return a.dims == b.dims && a.config == b.config && a.layouts == b.layouts;
}

}  // namespace

std::optional<Accepted> without_refused_calls(const Plan& plan,
                                              std::span<const Observation> observations) {
  const auto refused = std::find_if(
      observations.begin(), observations.end(),
      [](const Observation& o) { return o.end == End::unsupported && !o.calls.empty(); });
  if (refused == observations.end()) return std::nullopt;
  const auto calls = calls_of(plan);
  const auto index = static_cast<std::size_t>(refused->calls.back().call);
  if (index >= calls.size()) return std::nullopt;
  const Call& call = calls[index]->call;
  const auto goes = [&](const Step& step) {
    const auto* other = std::get_if<CallStep>(&step);
    return other != nullptr && are_refused_alike(other->call, call);
  };
  const bool captured = std::any_of(calls.begin(), calls.end(), [&](const CallStep* step) {
    return step->graph != 0 && are_refused_alike(step->call, call);
  });
  Accepted accepted{
      .plan = captured ? with_plain_graphs(plan) : plan, .refused = 0, .why = refused->message};
  accepted.refused = std::erase_if(accepted.plan.steps, goes);
  if (calls_of(accepted.plan).empty()) return std::nullopt;
  return accepted;
}

}  // namespace redzone::campaign

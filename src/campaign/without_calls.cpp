#include "campaign/without_calls.h"

#include <algorithm>
#include <utility>

#include "core/repeats.h"

namespace redzone::campaign {

std::optional<Shortened> without_calls(const Plan& plan,
                                       const std::function<bool(const Call&)>& goes) {
  const auto calls = calls_of(plan);
  const auto step_goes = [&](const CallStep* step) { return goes(step->call); };
  const auto count = std::count_if(calls.begin(), calls.end(), step_goes);
  if (count == 0) return std::nullopt;
  const bool captured = std::any_of(calls.begin(), calls.end(), [&](const CallStep* step) {
    return step->graph != 0 && step_goes(step);
  });
  Shortened out{captured ? with_plain_graphs(plan) : plan, static_cast<std::uint64_t>(count)};
  std::erase_if(out.plan.steps, [&](const Step& step) {
    const auto* call = std::get_if<CallStep>(&step);
    return call != nullptr && step_goes(call);
  });
  if (calls_of(out.plan).empty()) return std::nullopt;
  return out;
}

}  // namespace redzone::campaign

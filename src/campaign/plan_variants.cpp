#include "campaign/plan_variants.h"

#include <algorithm>
#include <limits>

#include "core/round_up.h"
#include "core/validate.h"

namespace redzone::campaign {
namespace {

constexpr std::uint64_t kSeeds = 3;
constexpr std::int64_t kRound = 16;  // elements; at least the default alignment in bytes

Plan with_seed(Plan plan, std::uint64_t seed) {
  for (auto& step : plan.steps)
    if (auto* call = std::get_if<CallStep>(&step)) call->call.seed = seed;
  return plan;
}

// `change` maps the value of a dim to its new value.
template <class Change>
Plan with_dims(Plan plan, Change change) {
  for (auto& step : plan.steps)
    if (auto* call = std::get_if<CallStep>(&step))
      for (auto& [name, value] : call->call.dims) value = change(value);
  return plan;
}

Plan contiguous(Plan plan) {
  for (auto& step : plan.steps)
    if (auto* call = std::get_if<CallStep>(&step)) call->call.layouts.clear();
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

std::vector<Plan> at_guard_pages(const Plan& plan, const TargetSpec& spec, Placement placement) {
  const auto down = [](std::int64_t value) {
    return value < kRound ? value : value / kRound * kRound;
  };
  const auto up = [](std::int64_t value) {
    return value > std::numeric_limits<std::int64_t>::max() - kRound ? value
                                                                     : round_up(value, kRound);
  };
  Plan placed = contiguous(plan);
  placed.mode = with_allocator(plan.mode, Allocator::guard);
  placed.mode.launch = Launch::blocking;
  placed.mode.placement = placement;
  if (placed.mode.alignment != Alignment::element) placed.mode.alignment = Alignment::promised;
  // Places the end of each tensor at its guard page, whatever its size, if the spec leaves its
  // alignment open.
  Plan to_the_element = placed;
  to_the_element.mode.alignment = Alignment::element;
  std::vector<Plan> out;
  for (auto& form : {with_dims(placed, up), with_dims(placed, down), placed, to_the_element})
    if (form != plan && std::find(out.begin(), out.end(), form) == out.end() &&
        validate(form, spec))
      out.push_back(form);
  return out;
}

}  // namespace redzone::campaign

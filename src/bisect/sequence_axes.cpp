// Axes of the steps, and of the dims of their calls.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <set>

#include "bisect/axis_list.h"
#include "bisect/dim_change.h"

namespace redzone::bisect {
namespace {

constexpr std::size_t kMostValues = 10;

std::int64_t dim_of(const Plan& plan, std::size_t step, const std::string& name) {
  return get(std::get<CallStep>(plan.steps[step]).call.dims, name);
}

// Returns up to kMostValues values to try instead of `value`, ascending. The most informative are
// chosen first: the values of other calls, neighbours, the smallest and the largest (`far`), both
// sides of the tile, the next powers of two and multiples of 16.
std::vector<std::int64_t> values_near(const DimSpec& dim, std::int64_t value,
                                      const std::vector<std::int64_t>& elsewhere,
                                      std::optional<std::int64_t> far) {
  std::vector<std::int64_t> wanted = elsewhere;
  if (dim.values.empty()) {
    const auto unit = dim.multiple_of;
    const auto power = [](std::int64_t v) {
      return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(v)));
    };
    const auto more = {value + unit,
                       value - unit,
                       least_value(dim),
                       far.value_or(value),
                       dim.tile,
                       dim.tile + unit,
                       2 * value,
                       power(value + 1),
                       power(value + 1) + unit,
                       (value / 16 + 1) * 16,
                       value / 2 / unit * unit,
                       (value / 64 + 1) * 64};
    wanted.insert(wanted.end(), more.begin(), more.end());
  } else {
    wanted.push_back(least_value(dim));
    wanted.push_back(far.value_or(value));
    auto at = std::find(dim.values.begin(), dim.values.end(), value);
    for (auto up = at; up != dim.values.end() && up - at < 4; ++up) wanted.push_back(*up);
    for (; at != dim.values.begin() && wanted.size() < kMostValues;) wanted.push_back(*--at);
  }
  std::vector<std::int64_t> out;
  for (const auto v : wanted)
    if (v != value && allows(dim, v) && std::find(out.begin(), out.end(), v) == out.end())
      out.push_back(v);
  // An empty call cannot fail, so a pass with it proves nothing.
  if (value != 0) std::erase(out, 0);
  if (out.size() > kMostValues) out.resize(kMostValues);
  std::sort(out.begin(), out.end());
  return out;
}

// "64", or "64 (T = 64)" if another dim was changed too.
std::string earlier_call_text(const Call& before, const TargetSpec& spec, const std::string& name,
                              std::int64_t value) {
  Call after = before;
  set_dim(after, spec, name, value);
  std::string with;
  for (const auto& [dim, v] : after.dims)
    if (dim != name && v != get(before.dims, dim))
      with += fmt::format("{}{} = {}", with.empty() ? "" : ", ", dim, v);
  return with.empty() ? fmt::format("{}", value) : fmt::format("{} ({})", value, with);
}

void add_dim_values(AxisList& list, const DimSpec& dim, const std::vector<std::size_t>& steps,
                    const std::vector<std::int64_t>& elsewhere) {
  list.set_dim(dim, steps);
  const Call& call = std::get<CallStep>(list.plan().steps[steps.front()]).call;
  const auto far = far_value(list.spec(), call, dim, call_steps(list.plan()).size());
  for (const auto value : values_near(dim, get(call.dims, dim.name), elsewhere, far)) {
    auto setting = dim_setting(list.plan(), list.spec(), dim, steps, value);
    setting.far = value > reach(dim, get(call.dims, dim.name));
    list.add(std::move(setting));
  }
}

std::string step_name(const Plan& plan, std::size_t step) {
  if (std::holds_alternative<SyncStep>(plan.steps[step]))
    return fmt::format("sync (step {})", step + 1);
  if (std::holds_alternative<WaitStep>(plan.steps[step]))
    return fmt::format("wait (step {})", step + 1);
  if (std::holds_alternative<ReplayStep>(plan.steps[step]))
    return fmt::format("replay (step {})", step + 1);
  const auto steps = call_steps(plan);
  const auto at = std::find(steps.begin(), steps.end(), step);
  return fmt::format("call {}", at - steps.begin() + 1);
}

}  // namespace

Setting dim_setting(const Plan& plan, const TargetSpec& spec, const DimSpec& dim,
                    const std::vector<std::size_t>& steps, std::int64_t value) {
  const Call& first = std::get<CallStep>(plan.steps[steps.front()]).call;
  const std::string text = earlier_call_text(first, spec, dim.name, value);
  return {text,
          [steps, &spec, name = dim.name, value](Draft& draft) {
            for (const auto step : steps) set_dim(call_at(draft, step), spec, name, value);
          },
          text != std::to_string(value)};
}

void add_step_axes(AxisList& list) {
  const Plan& plan = list.plan();
  const auto calls = call_steps(plan);
  for (std::size_t step = 0; step < plan.steps.size(); ++step) {
    list.begin(AxisKind::step, step_name(plan, step), "present", true);
    list.add("absent", [step](Draft& draft) { draft.dropped[step] = true; });
    const auto* call = std::get_if<CallStep>(&plan.steps[step]);
    if (call == nullptr) continue;
    // Shows whether a necessary call matters for its contents or only for its presence.
    if (step != calls.back())
      list.add(fmt::format("as call {}", calls.size()), [step, last = calls.back()](Draft& draft) {
        call_at(draft, step) = call_at(draft, last);
      });
    if (call->repeat > 1)
      list.add("once",
               [step](Draft& draft) { std::get<CallStep>(draft.plan.steps[step]).repeat = 1; });
  }
}

void add_dim_axes(AxisList& list) {
  const auto steps = call_steps(list.plan());
  for (const auto& dim : list.spec().dims) {
    std::set<std::int64_t> values;
    for (const auto step : steps) values.insert(dim_of(list.plan(), step, dim.name));
    const bool one_call = steps.size() == 1;
    if (values.size() == 1) {
      list.begin(AxisKind::dim, dim.name, fmt::format("{}", *values.begin()), !one_call);
      add_dim_values(list, dim, steps, {});
    }
    for (std::size_t i = 0; i < steps.size() && !one_call; ++i) {
      list.begin(AxisKind::dim, fmt::format("call {}: {}", i + 1, dim.name),
                 fmt::format("{}", dim_of(list.plan(), steps[i], dim.name)));
      add_dim_values(list, dim, {steps[i]}, {values.begin(), values.end()});
    }
  }
}

}  // namespace redzone::bisect

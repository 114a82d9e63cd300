#include "core/validate.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/names.h"
#include "core/plan_text.h"

namespace redzone {
namespace {

template <class Specs>
std::vector<std::string> names_of(const Specs& specs) {
  std::vector<std::string> names;
  for (const auto& s : specs) names.push_back(s.name);
  return names;
}

template <class Map, class Specs>
Result<void> check_names(const Map& given, const Specs& specs, std::string_view what, bool all) {
  const auto names = names_of(specs);
  for (const auto& [name, value] : given)
    if (std::find(names.begin(), names.end(), name) == names.end())
      return usage_error(fmt::format("unknown {} '{}'{} ({}s: {})", what, name,
                                     did_you_mean(name, names), what, fmt::join(names, ", ")));
  if (all)
    for (const auto& name : names)
      if (given.find(name) == given.end())
        return usage_error(fmt::format("{} '{}' is missing", what, name));
  return {};
}

std::string describe(const DimSpec& dim) {
  if (!dim.values.empty()) return fmt::format("one of {}", fmt::join(dim.values, ", "));
  std::string text = fmt::format("in {}..{}", dim.min, dim.max);
  if (dim.multiple_of > 1) text += fmt::format(" and a multiple of {}", dim.multiple_of);
  return text;
}

bool holds(const Constraint& c, const Call& call) {
  switch (c.kind) {
    case Constraint::Kind::divides: {
      const auto a = get(call.dims, c.a);
      return a != 0 && get(call.dims, c.b) % a == 0;
    }
    case Constraint::Kind::at_most:
      return get(call.dims, c.a) <= get(call.dims, c.b);
    case Constraint::Kind::predicate:
      return c.holds(call.dims, call.config);
  }
  return false;
}

}  // namespace

bool allows(const DimSpec& dim, std::int64_t value) {
  if (!dim.values.empty())
    return std::find(dim.values.begin(), dim.values.end(), value) != dim.values.end();
  return value >= dim.min && value <= dim.max && value % dim.multiple_of == 0;
}

Result<void> validate_call(const Call& call, const TargetSpec& spec) {
  if (auto r = check_names(call.dims, spec.dims, "dim", true); !r) return r;
  if (auto r = check_names(call.config, spec.knobs, "knob", true); !r) return r;
  if (auto r = check_names(call.layouts, spec.tensors, "tensor", false); !r) return r;
  for (const auto& dim : spec.dims) {
    const auto value = get(call.dims, dim.name);
    if (!allows(dim, value))
      return usage_error(fmt::format("{} = {}: must be {}", dim.name, value, describe(dim)));
  }
  for (const auto& knob : spec.knobs) {
    const auto& value = call.config.find(knob.name)->second;
    if (std::find(knob.values.begin(), knob.values.end(), value) != knob.values.end()) continue;
    std::vector<std::string> allowed;
    for (const auto& v : knob.values) allowed.push_back(print_value(v));
    return usage_error(fmt::format("{} = {}: must be one of {}", knob.name, print_value(value),
                                   fmt::join(allowed, ", ")));
  }
  for (const auto& c : spec.constraints)
    if (!holds(c, call)) return usage_error(c.text);
  for (const auto& tensor : spec.tensors) {
    const Layout& layout = call.layout(tensor.name);
    const Shape shape = tensor.shape(call.dims);
    if (auto why = layout_violation(shape, layout, tensor.layouts))
      return usage_error(fmt::format("tensor '{}': {}", tensor.name, *why));
    if (auto view = make_view(shape, layout); !view)
      return usage_error(fmt::format("tensor '{}': {}", tensor.name, view.error().message));
  }
  return {};
}

Result<void> validate(const Plan& plan, const TargetSpec& spec, std::string_view where) {
  if (plan.target != spec.name)
    return usage_error(fmt::format("{}: target is '{}', not '{}'", where, plan.target, spec.name));
  std::size_t index = 0;
  for (const auto& step : plan.steps) {
    ++index;
    const auto* call = std::get_if<CallStep>(&step);
    if (call == nullptr) continue;
    if (auto r = validate_call(call->call, spec); !r)
      return usage_error(fmt::format("{}: step {}: {}", where, index, r.error().message));
  }
  return {};
}

void complete(Plan& plan, const TargetSpec& spec) {
  for (auto& step : plan.steps) {
    auto* call = std::get_if<CallStep>(&step);
    if (call == nullptr) continue;
    for (const auto& knob : spec.knobs)
      call->call.config.try_emplace(knob.name, knob.values.front());
    for (const auto& dim : spec.dims) {
      if (dim.values.size() == 1) call->call.dims.try_emplace(dim.name, dim.values.front());
      if (dim.values.empty() && dim.min == dim.max) call->call.dims.try_emplace(dim.name, dim.min);
    }
  }
}

}  // namespace redzone

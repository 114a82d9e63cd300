// Axes of the knobs, layouts and data of the calls.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>

#include "bisect/axis_list.h"
#include "bisect/value_text.h"
#include "core/plan_text.h"

namespace redzone::bisect {
namespace {

std::string setting_text(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  return fmt::format("{}", std::get<std::int64_t>(value));
}

const Value& knob_of(const Plan& plan, std::size_t step, const std::string& name) {
  return std::get<CallStep>(plan.steps[step]).call.config.find(name)->second;
}

// Adds only values that a generator draws: any other value is an error in itself, and the plan's
// own value is already present.
void add_values(AxisList& list, const KnobSpec& knob, const std::vector<std::size_t>& steps) {
  for (const auto& value : std::span(knob.values).first(knob.draws()))
    list.add(setting_text(value), [steps, name = knob.name, value](Draft& draft) {
      for (const auto step : steps) call_at(draft, step).config[name] = value;
    });
}

std::string setting_text(const Layout& layout) {
  std::string out;
  const auto part = [&](std::string text) { out += (out.empty() ? "" : ", ") + std::move(text); };
  if (layout.row_padding_elems != 0) part(fmt::format("row padding {}", layout.row_padding_elems));
  if (layout.transposed) part("transposed");
  if (layout.offset_elems != 0) part(fmt::format("offset {}", layout.offset_elems));
  if (layout.unit_stride) part(fmt::format("unit stride {}", *layout.unit_stride));
  if (layout.hnd) part("HND");
  if (layout.slice_elems != 0) part(fmt::format("slice {}", layout.slice_elems));
  if (layout.broadcast_dim >= 0) part(fmt::format("dim {} broadcast", layout.broadcast_dim));
  if (layout.reversed_dim >= 0) part(fmt::format("dim {} reversed", layout.reversed_dim));
  return out.empty() ? "contiguous" : out;
}

std::vector<Layout> layouts_to_try(const LayoutRules& rules) {
  const std::int64_t unit = rules.granule_elems;
  std::vector<Layout> out{{}};
  if (rules.row_padding) out.push_back({.row_padding_elems = unit});
  if (rules.row_padding) out.push_back({.row_padding_elems = 16 * unit});
  if (rules.transposed) out.push_back({.transposed = true});
  if (rules.offset) out.push_back({.offset_elems = unit});
  if (rules.unit_strides) out.push_back({.unit_stride = 1});
  if (rules.heads_first) out.push_back({.hnd = true});
  if (rules.slice) out.push_back({.slice_elems = unit});
  if (rules.broadcast) out.push_back({.broadcast_dim = 0});
  if (rules.reversed) out.push_back({.reversed_dim = 0});
  return out;
}

// The `by`th seed after `seed`. With mixed alignments, counts only seeds with which the first eight
// tensors of a call have the same alignment.
std::uint64_t other_seed(const Plan& plan, std::uint64_t seed, std::uint64_t by) {
  constexpr std::size_t kTensors = 8;
  if (plan.mode.alignment != Alignment::mixed) return seed + by;
  const auto same = [&](std::uint64_t other) {
    for (std::size_t k = 0; k < kTensors; ++k)
      if (is_aligned_further(seed, k) != is_aligned_further(other, k)) return false;
    return true;
  };
  std::uint64_t other = seed;
  for (; by > 0; --by) {
    do ++other;
    while (!same(other));
  }
  return other;
}

}  // namespace

// One axis for all calls together, as a user sets a config, and one per call if the calls differ.
void add_knob_axes(AxisList& list) {
  const auto steps = call_steps(list.plan());
  for (const auto& knob : list.spec().knobs) {
    const Value& first = knob_of(list.plan(), steps.front(), knob.name);
    const bool same = std::all_of(steps.begin(), steps.end(), [&](std::size_t step) {
      return knob_of(list.plan(), step, knob.name) == first;
    });
    list.begin(AxisKind::knob, knob.name, same ? setting_text(first) : std::string(kDiffers),
               !same);
    add_values(list, knob, steps);
    if (same) continue;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      list.begin(AxisKind::knob, fmt::format("call {}: {}", i + 1, knob.name),
                 setting_text(knob_of(list.plan(), steps[i], knob.name)));
      add_values(list, knob, {steps[i]});
    }
  }
}

void add_layout_axes(AxisList& list) {
  const auto steps = call_steps(list.plan());
  for (const auto& tensor : list.spec().tensors) {
    std::string value;
    for (const auto step : steps) {
      const auto text =
          setting_text(std::get<CallStep>(list.plan().steps[step]).call.layout(tensor.name));
      if (value.empty())
        value = text;
      else if (value != text)
        value = kDiffers;
    }
    list.begin(AxisKind::layout, tensor.name + " layout", value);
    for (const auto& layout : layouts_to_try(tensor.layouts))
      list.add(setting_text(layout), [steps, name = tensor.name, layout](Draft& draft) {
        for (const auto step : steps) {
          auto& layouts = call_at(draft, step).layouts;
          if (layout.contiguous())
            layouts.erase(name);
          else
            layouts[name] = layout;
        }
      });
  }
}

void use_other_data(Plan& plan, std::uint64_t by) {
  for (auto& step : plan.steps)
    if (auto* call = std::get_if<CallStep>(&step))
      call->call.seed = other_seed(plan, call->call.seed, by);
}

void add_data_axis(AxisList& list) {
  const auto seed = calls_of(list.plan()).front()->call.seed;
  list.begin(AxisKind::data, std::string(kDataAxis), fmt::format("seed {}", seed));
  for (std::uint64_t by = 1; by <= kOtherData; ++by)
    list.add(fmt::format("seed {}", other_seed(list.plan(), seed, by)),
             [by](Draft& draft) { use_other_data(draft.plan, by); });
}

// The axis of the data keeps the data of calls equal or different, as they are.
void add_same_data_axis(AxisList& list) {
  const auto steps = call_steps(list.plan());
  if (steps.size() < 2) return;
  std::set<std::uint64_t> seeds;
  for (const auto* step : calls_of(list.plan())) seeds.insert(step->call.seed);
  const std::string_view value = seeds.size() == 1              ? kInAllCalls
                                 : seeds.size() == steps.size() ? kInNoCall
                                                                : kInSomeCalls;
  list.begin(AxisKind::data, std::string(kSameData), std::string(value), true);
  if (value != kInNoCall)
    list.add(std::string(kInNoCall), [steps](Draft& draft) {
      const std::uint64_t first = call_at(draft, steps.back()).seed;
      for (std::size_t i = 0; i + 1 < steps.size(); ++i)
        call_at(draft, steps[i]).seed = other_seed(draft.plan, first, steps.size() - 1 - i);
    });
  if (value != kInAllCalls)
    list.add(std::string(kInAllCalls), [steps](Draft& draft) {
      const std::uint64_t last = call_at(draft, steps.back()).seed;
      for (const auto step : steps) call_at(draft, step).seed = last;
    });
}

}  // namespace redzone::bisect

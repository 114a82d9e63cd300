#include "generators/configs.h"

#include <algorithm>
#include <span>

#include "generators/internal/draw.h"

namespace redzone::generators {
namespace {

std::span<const Value> drawn(const KnobSpec& knob) {
  return std::span(knob.values).first(knob.draws());
}

}  // namespace

Config default_config(const TargetSpec& spec) {
  Config config;
  for (const auto& knob : spec.knobs) config.emplace(knob.name, knob.values.front());
  return config;
}

Config draw_config(Draw& draw, const TargetSpec& spec) {
  Config config = default_config(spec);
  if (draw.one_in(2)) return config;
  for (const auto& knob : spec.knobs)
    if (!draw.one_in(3)) config[knob.name] = draw.pick(drawn(knob));
  return config;
}

bool switch_knob(Draw& draw, const TargetSpec& spec, Config& config) {
  const auto free = std::count_if(spec.knobs.begin(), spec.knobs.end(),
                                  [](const KnobSpec& k) { return k.draws() > 1; });
  if (free == 0) return false;
  auto nth = draw.index(static_cast<std::size_t>(free));
  for (const auto& knob : spec.knobs) {
    const auto values = drawn(knob);
    if (values.size() < 2 || nth-- != 0) continue;
    Value& value = config.find(knob.name)->second;
    const auto at = std::find(values.begin(), values.end(), value) - values.begin();
    const auto step = 1 + draw.index(values.size() - 1);
    value = values[(static_cast<std::size_t>(at) + step) % values.size()];
    return true;
  }
  return false;
}

}  // namespace redzone::generators

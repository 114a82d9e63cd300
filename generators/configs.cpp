#include "generators/configs.h"

#include <algorithm>

#include "generators/internal/draw.h"

namespace redzone::generators {

Config default_config(const TargetSpec& spec) {
  Config config;
  for (const auto& knob : spec.knobs) config.emplace(knob.name, knob.values.front());
  return config;
}

Config draw_config(Draw& draw, const TargetSpec& spec) {
  Config config = default_config(spec);
  if (draw.one_in(2)) return config;
  for (const auto& knob : spec.knobs)
    if (!draw.one_in(3)) config[knob.name] = draw.pick(std::span(knob.values));
  return config;
}

bool switch_knob(Draw& draw, const TargetSpec& spec, Config& config) {
  const auto free = std::count_if(spec.knobs.begin(), spec.knobs.end(),
                                  [](const KnobSpec& k) { return k.values.size() > 1; });
  if (free == 0) return false;
  auto nth = draw.index(static_cast<std::size_t>(free));
  for (const auto& knob : spec.knobs) {
    if (knob.values.size() < 2 || nth-- != 0) continue;
    Value& value = config.find(knob.name)->second;
    const auto at = std::find(knob.values.begin(), knob.values.end(), value) - knob.values.begin();
    const auto step = 1 + draw.index(knob.values.size() - 1);
    value = knob.values[(static_cast<std::size_t>(at) + step) % knob.values.size()];
    return true;
  }
  return false;
}

}  // namespace redzone::generators

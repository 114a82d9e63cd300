// The chunk plugin of the host device, loaded once, and calls for its targets.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "target/plugin.h"

namespace redzone::test {

inline const std::vector<PluginTarget>& chunk_targets() {
  static const LoadedPlugin plugin = [] {
    auto loaded = load_plugin(CHUNK_HOST_PLUGIN);
    if (!loaded) throw std::runtime_error(loaded.error().message);
    return std::move(*loaded);
  }();
  return plugin.targets;
}

inline const PluginTarget& chunk_target(std::string_view name) {
  const auto& all = chunk_targets();
  const auto it =
      std::find_if(all.begin(), all.end(), [&](const auto& t) { return t.spec.name == name; });
  if (it == all.end()) throw std::runtime_error("no target " + std::string(name));
  return *it;
}

inline Dims chunk_dims(std::int64_t B, std::int64_t H, std::int64_t T, std::int64_t C,
                       std::int64_t D, std::int64_t DV) {
  return {{"B", B}, {"H", H}, {"T", T}, {"C", C}, {"D", D}, {"DV", DV}};
}

// All knobs at their defaults.
inline Config default_config(const TargetSpec& spec) {
  Config config;
  for (const auto& knob : spec.knobs) config.emplace(knob.name, knob.values.front());
  return config;
}

}  // namespace redzone::test

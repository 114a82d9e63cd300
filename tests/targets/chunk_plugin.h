// The chunk plugin that this test was built for, loaded once, and calls for its targets.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/device_traits.h"
#include "target/plugin.h"
#include "target/registry.h"

namespace redzone::test {

inline const LoadedPlugin& chunk_plugin() {
  static const LoadedPlugin plugin = [] {
    auto loaded = load_plugin(PLUGIN);
    if (!loaded) throw std::runtime_error(loaded.error().message);
    return std::move(*loaded);
  }();
  return plugin;
}

inline const std::vector<PluginTarget>& chunk_targets() {
  return chunk_plugin().targets;
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

// INSTANTIATE_TEST_SUITE_P(Family, suite, all_chunk_targets(), target_name)
inline auto all_chunk_targets() {
  return testing::Values("chunk_fwd_h", "chunk_fwd_phase1", "chunk_bwd_dh",
                         "chunk_bwd_dh_correction");
}
// With the plugin's kind of device, so that test names differ between executables.
inline std::string target_name(const testing::TestParamInfo<const char*>& info) {
  return std::string(name_of(chunk_plugin().device)) + "_" + info.param;
}

}  // namespace redzone::test

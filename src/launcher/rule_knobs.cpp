#include "launcher/rule_knobs.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace redzone::lazy {
namespace {

template <class Rule>
struct Named {
  std::string_view name;
  Rule rule;
};

constexpr std::array<Named<ScratchRule>, 5> kScratch = {
    {{"right", ScratchRule::right},
     {"per_cta", ScratchRule::per_cta},
     {"first_call_only", ScratchRule::first_call_only},
     {"without_num_ctas", ScratchRule::without_num_ctas},
     {"null", ScratchRule::null}}};
constexpr std::array<Named<GridRule>, 2> kGrid = {
    {{"each_call", GridRule::each_call}, {"first_call", GridRule::first_call}}};
constexpr std::array<Named<KeyRule>, 2> kKey = {
    {{"all_dims", KeyRule::all_dims}, {"without_dim", KeyRule::without_dim}}};
constexpr std::array<Named<TuningRule>, 2> kTuning = {
    {{"restores", TuningRule::restores}, {"accumulates", TuningRule::accumulates}}};

template <class Values>
KnobSpec knob(std::string name, const Values& values, std::string doc) {
  KnobSpec knob{std::move(name), {}, std::move(doc), 1};
  for (const auto& value : values) knob.values.emplace_back(std::string(value.name));
  return knob;
}

template <class Values, class Rule>
void read(const Config& config, const char* name, const Values& values, Rule& rule) {
  const auto knob = config.find(name);
  if (knob == config.end()) return;
  const auto* text = std::get_if<std::string>(&knob->second);
  const auto value = std::find_if(values.begin(), values.end(), [&](const auto& known) {
    return text != nullptr && known.name == *text;
  });
  if (value != values.end()) rule = value->rule;
}

}  // namespace

std::vector<KnobSpec> rule_knobs() {
  return {knob("scratch_rule", kScratch, "bytes of scratch for a launch"),
          knob("grid_rule", kGrid, "whose dims the grid is computed from"),
          knob("key_rule", kKey, "what a frozen launch is found by"),
          knob("tuning_rule", kTuning, "what trying a config leaves in the outputs")};
}

Rules rules_of(const Config& config, Rules rules) {
  read(config, "scratch_rule", kScratch, rules.scratch);
  read(config, "grid_rule", kGrid, rules.grid);
  read(config, "key_rule", kKey, rules.key);
  read(config, "tuning_rule", kTuning, rules.tuning);
  return rules;
}

}  // namespace redzone::lazy

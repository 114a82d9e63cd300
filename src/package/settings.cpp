#include "package/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace redzone::package {
namespace {

constexpr std::string_view kAuto = "auto";

template <class Things, class Thing>
bool contains(const Things& things, const Thing& thing) {
  return std::find(things.begin(), things.end(), thing) != things.end();
}

std::string plain_text(const Value& value) {
  const auto* text = std::get_if<std::string>(&value);
  return text != nullptr ? *text : std::to_string(std::get<std::int64_t>(value));
}

// The label contains only the knobs that differ between settings, in the order of the package.
std::string label_of(const Package& package, const Config& setting,
                     const std::vector<Config>& all) {
  std::string label;
  for (const auto& knob : package.knobs) {
    const auto value = setting.find(knob.name);
    if (value == setting.end()) continue;
    const bool differs = std::any_of(all.begin(), all.end(), [&](const Config& other) {
      return other.find(knob.name)->second != value->second;
    });
    if (differs)
      label +=
          fmt::format("{}{}={}", label.empty() ? "" : " ", knob.name, plain_text(value->second));
  }
  return label;
}

std::vector<Config> settings_of(const Package& package, const std::vector<std::string>& knobs) {
  std::set<Config> known;
  std::vector<Config> settings;
  for (const auto& variant : package.variants) {
    Config setting;
    for (const auto& [name, value] : variant.knobs)
      if (contains(knobs, name)) setting.emplace(name, value);
    if (known.insert(setting).second) settings.push_back(std::move(setting));
  }
  return settings;
}

bool is_type(const Package& package, const std::string& knob) {
  return std::any_of(package.tensors.begin(), package.tensors.end(),
                     [&](const Tensor& t) { return t.dtype_of == knob; });
}

}  // namespace

Settings::Settings(const Package& package, const std::vector<std::string>& merged, std::string name,
                   bool choose)
    : name_(std::move(name)), settings_(settings_of(package, merged)) {
  for (const auto& knob : package.knobs)
    if (!contains(merged, knob.name)) knobs_.push_back(knob);
  if (settings_.size() < 2) return;
  for (const auto& setting : settings_) labels_.push_back(label_of(package, setting, settings_));
  KnobSpec knob{name_, {}, choose ? "auto: chosen by the first call of a shape" : ""};
  if (choose) knob.values.emplace_back(std::string(kAuto));
  knob.values.insert(knob.values.end(), labels_.begin(), labels_.end());
  knobs_.push_back(std::move(knob));
}

Settings Settings::of(const Package& package) {
  std::vector<std::string> mergeable;
  double combinations = 1;
  for (const auto& knob : package.knobs) {
    if (is_type(package, knob.name)) continue;
    mergeable.push_back(knob.name);
    combinations *= static_cast<double>(knob.values.size());
  }
  const auto exist = static_cast<double>(settings_of(package, mergeable).size());
  if (2 * exist >= combinations) mergeable.clear();
  return {package, mergeable, "config", false};
}

Settings Settings::to_tune(const Package& package) {
  return {package, package.tuned, "tuned", true};
}

std::vector<Config> Settings::full(const Config& config) const {
  Config rest = config;
  rest.erase(name_);
  std::vector<Config> all;
  for (std::size_t i = 0; i < settings_.size(); ++i) {
    if (!labels_.empty())
      if (const Value& pinned = config.find(name_)->second;
          pinned != Value(std::string(kAuto)) && pinned != Value(labels_[i]))
        continue;
    all.push_back(rest);
    all.back().insert(settings_[i].begin(), settings_[i].end());
  }
  return all;
}

}  // namespace redzone::package

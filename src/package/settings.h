// The settings of a package's knobs, as the knobs of a target.
//
// Variants are a list, and where a user gave a list of configs, few combinations of its values are
// in it. Knobs that hardly combine are merged into one, whose values are the settings that exist:
// so what is drawn exists, and what is reduced moves along the list.
#pragma once

#include <redzone/spec.h>

#include <string>
#include <vector>

#include "package/package.h"

namespace redzone::package {

class Settings {
 public:
  // As the package has them; merged into `config` where less than half of the combinations exist.
  // A knob that is the type of a tensor stays.
  static Settings of(const Package& package);
  // The tuned ones merged into `tuned`, which may also be "auto", the default: any of them. Nothing
  // is merged where there is one setting only.
  static Settings to_tune(const Package& package);

  const std::vector<KnobSpec>& knobs() const { return knobs_; }
  // Whether knobs were merged into one of several values.
  bool has_choice() const { return !labels_.empty(); }
  // Of all knobs of the package for one of knobs(): at least one, and several for "auto" only.
  std::vector<Config> full(const Config& config) const;

 private:
  Settings(const Package& package, const std::vector<std::string>& merged, std::string name,
           bool choose);

  std::string name_;  // of the merged knob
  std::vector<KnobSpec> knobs_;
  std::vector<Config> settings_;     // of the merged knobs, each once, as variants have them
  std::vector<std::string> labels_;  // of the settings: "BLOCK=128 num_warps=4"
};

}  // namespace redzone::package

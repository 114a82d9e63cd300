// The settings of a package's knobs, as the knobs of a target.
//
// A package lists its variants. If a user gave a list of configs, the variants cover few
// combinations of the knobs' values. Knobs with few existing combinations are merged into one knob
// whose values are the existing settings, so that drawn settings exist, and reduction moves along
// the list.
#pragma once

#include <redzone/spec.h>

#include <string>
#include <vector>

#include "package/package.h"

namespace redzone::package {

class Settings {
 public:
  // The package's knobs, merged into one knob `config` if less than half of the combinations exist.
  // A knob that is the type of a tensor is not merged.
  static Settings of(const Package& package);
  // The tuned knobs are merged into `tuned`. Its default, "auto", stands for any of the settings.
  // If there is only one setting, the tuned knobs are omitted.
  static Settings to_tune(const Package& package);

  const std::vector<KnobSpec>& knobs() const { return knobs_; }
  // Whether knobs were merged into one with several values.
  bool has_choice() const { return !labels_.empty(); }
  // All knobs of the package for one value of knobs(): one config, or several for "auto".
  std::vector<Config> full(const Config& config) const;

 private:
  Settings(const Package& package, const std::vector<std::string>& merged, std::string name,
           bool choose);

  std::string name_;  // name of the merged knob
  std::vector<KnobSpec> knobs_;
  std::vector<Config> settings_;     // settings of the merged knobs, unique, in the order of the
                                     // variants
  std::vector<std::string> labels_;  // labels of the settings: "BLOCK=128 num_warps=4"
};

}  // namespace redzone::package

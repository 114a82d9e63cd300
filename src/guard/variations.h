// Settings of the guard that a finding of a program may depend on, with the values to try.
#pragma once

#include <string>
#include <vector>

#include "core/program_origin.h"
#include "interpose/settings.h"

namespace redzone::guard {

struct Variation {
  std::string text;  // "guard_before"
  interpose::Settings settings;
};

// One setting, while all others stay unchanged.
struct VariedSetting {
  std::string name, value;
  std::vector<Variation> others;  // the settings with another value of this setting
};

// Varies the side of the guard page, alignment, poison, for device blocks also retirement and
// launch mode, and the guarded blocks if the block of the finding is known.
std::vector<VariedSetting> variations_of(const interpose::Settings& settings,
                                         const ProgramOrigin& origin, bool on_device);

// `settings` with the value of each of `changes`, which come from variations_of().
interpose::Settings with_changes(const interpose::Settings& settings,
                                 const std::vector<const Variation*>& changes);

}  // namespace redzone::guard

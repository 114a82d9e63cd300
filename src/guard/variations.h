// The settings of the guard on which a finding of a program may depend, and the values to try.
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

// One setting alone, with the others as they were.
struct VariedSetting {
  std::string name, value;
  std::vector<Variation> others;  // differ from the settings in what the axis is about
};

// Side of the guard page, alignment, poison, of a device also retirement and launch, and which
// blocks are guarded, if the block of the finding is known.
std::vector<VariedSetting> variations_of(const interpose::Settings& settings,
                                         const ProgramOrigin& origin, bool on_device);

// `settings` with the value of each of `changes` in place of its own: those of variations_of().
interpose::Settings with_changes(const interpose::Settings& settings,
                                 const std::vector<const Variation*>& changes);

}  // namespace redzone::guard

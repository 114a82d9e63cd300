// The files of --report DIR: one per format, each computed from the night alone.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "report/night.h"

namespace redzone::report {

// Increased when a key of night.json is removed, renamed or changes its meaning, but not for new
// keys.
inline constexpr int kNightJsonVersion = 1;

// For redzone nightly --json and night.json: one document with "version" and "night". The keys are
// the members of Night in their order; numbers are written in full; text that is not UTF-8 is
// repaired.
std::string night_json(const Night& night);
// For a terminal; ends with a newline.
std::string night_text(const Night& night);

struct NightFormat {
  std::string_view name;  // "json"
  std::string_view file;  // file name in the folder: "night.json"
  std::string (*write)(const Night& night);
};

std::span<const NightFormat> night_formats();

}  // namespace redzone::report

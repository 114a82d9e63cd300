// The files that --report DIR holds: one for each format, each a function of the night.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "report/night.h"

namespace redzone::report {

// Grows when a key of night.json goes, is renamed or means something else; new keys do not count.
inline constexpr int kNightJsonVersion = 1;

// Of redzone nightly --json and of night.json: one document with "version" and "night", keys as the
// members of Night and in their order, numbers in full, text that is not UTF-8 repaired.
std::string night_json(const Night& night);
// For a terminal; ends with a newline.
std::string night_text(const Night& night);

struct NightFormat {
  std::string_view name;  // "json"
  std::string_view file;  // "night.json", in the folder
  std::string (*write)(const Night& night);
};

std::span<const NightFormat> night_formats();

}  // namespace redzone::report

#include "report/night_formats.h"

#include <array>

namespace redzone::report {

std::span<const NightFormat> night_formats() {
  static constexpr std::array kFormats{
      NightFormat{"json", "night.json", night_json},
      NightFormat{"text", "night.txt", night_text},
  };
  return kFormats;
}

}  // namespace redzone::report

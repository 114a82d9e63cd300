#include "report/night_formats.h"

#include <array>

#include "report/html.h"
#include "report/junit.h"
#include "report/markdown.h"
#include "report/sarif.h"

namespace redzone::report {

std::span<const NightFormat> night_formats() {
  static constexpr std::array kFormats{
      NightFormat{"json", "night.json", night_json},
      NightFormat{"text", "night.txt", night_text},
      NightFormat{"html", "index.html", night_html},
      NightFormat{"junit", "junit.xml", night_junit},
      NightFormat{"markdown", "summary.md", night_markdown},
      NightFormat{"sarif", "redzone.sarif", night_sarif},
  };
  return kFormats;
}

}  // namespace redzone::report

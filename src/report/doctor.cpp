#include "report/doctor.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace redzone::report {

std::string doctor_text(const DoctorReport& report) {
  std::size_t width = 0;
  for (const auto& line : report.lines) width = std::max(width, line.what.size());
  std::string out;
  for (const auto& line : report.lines) {
    out += fmt::format("{:4} {:{}}  {}\n", line.ok ? "ok" : "--", line.what, width, line.found);
    if (!line.consequence.empty())
      out += fmt::format("     {:{}}  -> {}\n", "", width, line.consequence);
  }
  return out + (report.ok ? "ready\n" : "NOT ready: a device misses planted bugs\n");
}

std::string doctor_json(const DoctorReport& report) {
  nlohmann::ordered_json lines = nlohmann::ordered_json::array();
  for (const auto& line : report.lines)
    lines.push_back({{"what", line.what},
                     {"ok", line.ok},
                     {"found", line.found},
                     {"consequence", line.consequence}});
  const nlohmann::ordered_json document = {{"ok", report.ok}, {"lines", lines}};
  return document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace redzone::report

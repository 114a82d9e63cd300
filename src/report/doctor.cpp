#include "report/doctor.h"
#include "report/json_parts.h"

#include <fmt/format.h>

#include <algorithm>

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
  if (!report.ok) return out + "NOT ready: a device misses planted bugs\n";
  return out + (report.guard_ok ? "ready\n" : "ready, except for 'redzone guard'\n");
}

std::string doctor_json(const DoctorReport& report) {
  Json lines = Json::array();
  for (const auto& line : report.lines)
    lines.push_back({{"what", line.what},
                     {"ok", line.ok},
                     {"found", line.found},
                     {"consequence", line.consequence}});
  const Json document = {{"ok", report.ok}, {"guard_ok", report.guard_ok}, {"lines", lines}};
  return print(document);
}

}  // namespace redzone::report

#include "core/attribution.h"

#include <fmt/format.h>

namespace redzone {

std::string text_of(const Attribution& a) {
  std::string what;
  const auto add = [&](const std::string& word) { what += (what.empty() ? "" : " ") + word; };
  if (a.access != Access::unknown) add(std::string(name_of(a.access)));
  if (!a.buffer.empty() && a.side != Side::unknown) add(std::string(name_of(a.side)));
  if (!a.buffer.empty()) add("'" + a.buffer + "'");
  if (!a.kernel.empty()) add("in " + a.kernel);
  if (!a.location.empty()) add("at " + a.location);
  std::string out;
  if (a.call >= 0) out = fmt::format("call {}", a.call + 1);
  if (!what.empty()) out += (out.empty() ? "" : ": ") + what;
  if (!a.detail.empty()) out += (out.empty() ? "" : "; ") + a.detail;
  return out;
}

}  // namespace redzone

#include "device/host/undefined_check.h"

#include <fmt/format.h>

#include <string_view>

namespace redzone::device {

void UndefinedCheck::undefined(const host::Undefined& found) {
  Sighting sighting = here(found.kind);
  const std::string_view file = found.file == nullptr ? "" : found.file;
  sighting.location = fmt::format("{}:{}", file.substr(file.rfind('/') + 1), found.line);
  sighting.at = found.at;
  see(std::move(sighting));
}

}  // namespace redzone::device

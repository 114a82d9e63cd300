#include "device/host/sighting_check.h"

#include <algorithm>
#include <utility>

namespace redzone::device {

std::vector<Sighting> SightingCheck::take() {
  return std::exchange(seen_, {});
}

Sighting SightingCheck::here(std::string kind) const {
  Sighting sighting;
  sighting.kind = std::move(kind);
  sighting.block = block_;
  sighting.thread = thread_;
  return sighting;
}

void SightingCheck::see(Sighting sighting) {
  const auto known = std::find_if(seen_.begin(), seen_.end(), [&](const Sighting& s) {
    return s.kind == sighting.kind && s.warning == sighting.warning && s.code == sighting.code &&
           s.elsewhere == sighting.elsewhere && s.location == sighting.location;
  });
  if (known != seen_.end()) {
    ++known->count;
    return;
  }
  // Counted separately, so that warnings do not keep failures from being reported.
  const auto alike = std::count_if(
      seen_.begin(), seen_.end(), [&](const Sighting& s) { return s.warning == sighting.warning; });
  if (static_cast<std::size_t>(alike) < kMost) seen_.push_back(std::move(sighting));
}

}  // namespace redzone::device

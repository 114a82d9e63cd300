// The lengths of the sequences of a ragged batch, from the dims of a call.
#pragma once

#include <redzone/spec.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

namespace redzone::flashinfer_target {

// Offsets of the B sequences that share the tokens of dim `total`: equal lengths for L = 0, else
// random cuts seeded by L, some of which coincide (empty sequences).
inline std::vector<int> offsets_of(const Dims& dims, std::string_view total) {
  const std::int64_t batch = get(dims, "B"), tokens = get(dims, total), lengths = get(dims, "L");
  std::vector<int> offsets = {0};
  for (std::int64_t b = 1; b < batch; ++b) {
    const std::int64_t drawn = (lengths * 2654435761 + b * 40503) >> 7 & 1023;
    const std::int64_t at = lengths == 0 ? 0 : drawn % 4 == 0 ? -1024 : drawn;
    const auto cut =
        static_cast<int>(std::max<std::int64_t>(b * 1024 + at, 0) * tokens / (batch * 1024));
    offsets.push_back(std::max(offsets.back(), cut));
  }
  offsets.push_back(static_cast<int>(tokens));
  return offsets;
}

}  // namespace redzone::flashinfer_target

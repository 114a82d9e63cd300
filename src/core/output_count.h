// Counts how the outputs of screened calls were judged without a reference.
#pragma once

#include <cstdint>

namespace redzone {

// Counts completed calls that were not compared with the reference (see ReferenceCount).
struct OutputCount {
  std::int64_t by_digests = 0;  // by comparing the digests of two trials
  std::int64_t by_nothing = 0;  // not judged, or no output has an element

  OutputCount& operator+=(const OutputCount& more) {
    by_digests += more.by_digests;
    by_nothing += more.by_nothing;
    return *this;
  }
  bool operator==(const OutputCount&) const = default;
};

}  // namespace redzone

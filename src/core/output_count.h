// What judged the outputs of calls that were screened, beside the reference.
#pragma once

#include <cstdint>

namespace redzone {

// Calls that ran to their end and were not compared with the reference (ReferenceCount).
struct OutputCount {
  std::int64_t by_digests = 0;  // of two trials, which must agree
  std::int64_t by_nothing = 0;  // or had no element that could be judged

  OutputCount& operator+=(const OutputCount& more) {
    by_digests += more.by_digests;
    by_nothing += more.by_nothing;
    return *this;
  }
  bool operator==(const OutputCount&) const = default;
};

}  // namespace redzone

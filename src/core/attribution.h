// What one source (the device itself, progress markers, a core dump, memcheck) reports about the
// access behind a failure. For users only, never part of a signature, because not every machine has
// every source.
#pragma once

#include <string>

#include "core/trial.h"

namespace redzone {

// "", -1 and unknown: not reported by the source.
struct Attribution {
  std::string source;      // "progress markers", "core dump", "memcheck", ...
  std::int32_t call = -1;  // index of the plan's call that it refers to
  std::string kernel = {};
  Access access = Access::unknown;
  std::string buffer = {};  // tensor or scratch that the address is in, or nearest to
  Side side = Side::unknown;
  std::string location = {};  // "scan.cu:41"
  std::string detail = {};    // remaining details, or why the source reports nothing; one line

  bool operator==(const Attribution&) const = default;
};

// "call 2: read after 'x' in scan at scan.cu:41; 8 bytes"; calls are counted from 1. No newline.
std::string text_of(const Attribution& attribution);

}  // namespace redzone

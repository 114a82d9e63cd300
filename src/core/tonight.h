// What a night showed of a finding, or of a plan of its corpus.
#pragma once

#include <cstdint>
#include <string_view>

namespace redzone {

enum class Tonight : std::uint8_t {
  found,           // by fuzzing; it was not replayed
  fails,           // replayed: every run that could be judged failed as recorded
  flaky,           // replayed: some did
  passes,          // replayed: none did, often enough to say so
  unclear,         // none did, or too few could be judged, which does not say that it is fixed
  not_applicable,  // it cannot run here
  not_run,         // quarantined, another shard's, or no time was left
  otherwise,       // replayed: it failed, but with another signature, which is its own finding
  harness_error,   // replayed, and Redzone could run or judge none of the runs
};

// Replayed, and it failed as recorded in at least one run.
bool fails_as_recorded(Tonight tonight);
// Nothing was judged, for the reason that goes with it.
bool is_gap(Tonight tonight);

std::string_view name_of(Tonight tonight);  // "found", "still fails", "not applicable", ...

}  // namespace redzone

// What a night showed of a finding, or of a plan of its corpus.
#pragma once

#include <cstdint>

#include "core/enum_names.h"

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

constexpr auto enum_table(Tonight) {
  return enum_names<Tonight>("outcome of a night", {{Tonight::found, "found"},
                                                    {Tonight::fails, "still fails"},
                                                    {Tonight::flaky, "flaky"},
                                                    {Tonight::passes, "passes"},
                                                    {Tonight::unclear, "unclear"},
                                                    {Tonight::not_applicable, "not applicable"},
                                                    {Tonight::not_run, "not run"},
                                                    {Tonight::otherwise, "fails otherwise"},
                                                    {Tonight::harness_error, "harness error"}});
}

// Replayed, and it failed as recorded in at least one run.
bool fails_as_recorded(Tonight tonight);
// Nothing was judged, for the reason that goes with it.
bool is_gap(Tonight tonight);

}  // namespace redzone

// The result of a night for one finding or for one plan of its corpus.
#pragma once

#include <cstdint>

#include "core/enum_names.h"

namespace redzone {

enum class Tonight : std::uint8_t {
  found,           // by fuzzing; it was not replayed
  fails,           // replayed: every run that could be judged failed as recorded
  flaky,           // replayed: some runs failed
  passes,          // replayed: none failed, in enough runs to conclude so
  unclear,         // none failed or too few could be judged: no proof of a fix
  not_applicable,  // cannot run here
  not_run,         // quarantined, in another shard, or out of time
  otherwise,       // replayed: failed with another signature, which is its own finding
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

// The replay failed as recorded in at least one run.
bool fails_as_recorded(Tonight tonight);
// Nothing was judged; the result's reason tells why.
bool is_gap(Tonight tonight);

}  // namespace redzone

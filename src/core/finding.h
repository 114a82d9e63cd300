// Stored information about a bug. Plain values; the store reads and writes them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/attribution.h"
#include "core/enum_names.h"
#include "core/environment.h"
#include "core/ledger.h"
#include "core/plan.h"
#include "core/program_origin.h"
#include "core/reduction.h"
#include "core/verdict.h"

namespace redzone {

struct Reliability {
  std::int64_t k = 0;  // runs that failed with the same signature
  std::int64_t n = 0;  // runs
  bool operator==(const Reliability&) const = default;
};

// Result of varying one axis alone: "launch = blocking" failed k of n. On the axis
// and_launch("allocator") the launch mode varies, too: "guard, gated".
struct AttributionRow {
  std::string axis;   // name of a ModeAxis, or axis::kLoad (mode_axes.h)
  std::string value;  // "blocking"
  Reliability failed;
  bool operator==(const AttributionRow&) const = default;
};

inline std::string and_launch(const std::string& axis) {
  return axis + ", launch";
}

enum class FindingState : std::uint8_t {
  suspect,      // seen once in a screen, not confirmed yet
  confirmed,    // recurs in fresh workers
  flaky,        // recurs, but not always
  unconfirmed,  // did not recur in fresh workers, with or without its history
};

constexpr auto enum_table(FindingState) {
  return enum_names<FindingState>("state", {{FindingState::suspect, "suspect"},
                                            {FindingState::confirmed, "confirmed"},
                                            {FindingState::flaky, "flaky"},
                                            {FindingState::unconfirmed, "unconfirmed"}});
}

struct Finding {
  std::int64_t id = 0;
  Signature signature;
  FindingState state = FindingState::suspect;
  std::string oracle;          // oracle whose expand() and judge() show the failure on `plan`
  std::string reason;          // one sentence
  Plan plan;                   // the smallest known plan that fails
  Plan original;               // the plan as generated
  bool minimal = false;        // true if reduction.end is ReductionEnd::minimal; set in older
                               // stores, too
  Reduction reduction = {};    // how `plan` was reduced from `original`
  bool needs_history = false;  // `plan` includes calls of earlier plans of the worker
  Reliability reliability;
  std::vector<AttributionRow> attribution;
  std::vector<Attribution> fault_attributions;  // for the failure of `plan`, one per source
  std::string fault_detail;  // kernel, access, address relative to the buffer; for people
  Environment environment;
  std::int64_t campaign = 0;
  std::uint64_t plans_to_first = 0;  // plans screened in the campaign before the first occurrence
  double seconds_to_first = 0;
  std::int64_t occurrences = 1;  // plans that showed the signature
  std::string first_seen;        // UTC, ISO 8601
  std::string last_seen;
  Ledger ledger = {};  // state from its ledger entries; read, but never written with the finding
  // Set for a finding of a program under `redzone guard`; its plans make no call.
  std::optional<ProgramOrigin> program = {};
  // The finding was merged from another store, which may belong to other people and another
  // machine.
  bool origin_merged = false;
};

// A file that belongs to a finding.
struct Artifact {
  std::string kind;  // "log": how the worker ended and what it printed last
  std::string name;
  std::string added;  // UTC, ISO 8601
  std::string bytes;
};

// State of a failure after k of n runs in fresh workers failed: confirmed (all), flaky (some),
// unconfirmed (none), suspect (no run could be judged).
inline FindingState state_of(const Reliability& runs) {
  if (runs.n == 0) return FindingState::suspect;
  if (runs.k == 0) return FindingState::unconfirmed;
  return runs.k == runs.n ? FindingState::confirmed : FindingState::flaky;
}
// True if the failure recurs in fresh workers.
inline bool was_found(FindingState state) {
  return state == FindingState::confirmed || state == FindingState::flaky;
}

}  // namespace redzone

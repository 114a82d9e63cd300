// What is kept of a bug. Plain values; the store reads and writes them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/attribution.h"
#include "core/ledger.h"
#include "core/plan.h"
#include "core/reduction.h"
#include "core/verdict.h"

namespace redzone::store {

// Where a finding was seen. A repro is only worth as much as this says: the root cause of a failure
// that does not recur is often here.
struct Environment {
  std::string device;          // "host", "NVIDIA H100 80GB HBM3"
  std::string driver;          // "580.159.04", "" on the host
  int compute_capability = 0;  // 90
  std::string toolkit;         // CUDA toolkit (nvcc, ptxas) the code was built with, or
                               // toolkit_of_package()
  std::string nvrtc;           // version that compiled lazily, "" when not used
  std::string host;            // kernel and CPU, as `uname -srm` gives it
  std::string code_hash;       // of the plugin file, or of the package, that ran
  std::string redzone_version;

  bool operator==(const Environment&) const = default;
};

// What made the code of a package, and its folder, so that a finding can say what it needs.
std::string toolkit_of_package(std::string_view compiled_by, std::string_view folder);
// The folder that is named there; "" where the code was no package's.
std::string package_of(const Environment& environment);

struct Reliability {
  std::int64_t k = 0;  // runs that failed with the same signature
  std::int64_t n = 0;  // runs
  bool operator==(const Reliability&) const = default;
};

// One axis, varied alone: "launch = blocking" failed k of n. Of and_launch("allocator"), the launch
// varied with it: "guard, gated".
struct AttributionRow {
  std::string axis;  // "launch", "allocator", "placement", "poison", "order", "schedule", "history"
  std::string value;  // "blocking"
  Reliability failed;
  bool operator==(const AttributionRow&) const = default;
};

inline std::string and_launch(const std::string& axis) {
  return axis + ", launch";
}

enum class State : std::uint8_t {
  suspect,      // seen once in a screen, not confirmed yet
  confirmed,    // recurs in fresh workers
  flaky,        // recurs, but not always
  unconfirmed,  // did not recur in fresh workers, with or without its history
};

struct Finding {
  std::int64_t id = 0;
  Signature signature;
  State state = State::suspect;
  std::string oracle;          // its expand() and judge() show the failure on `plan`
  std::string reason;          // one sentence
  Plan plan;                   // the smallest known
  Plan original;               // as it was generated
  bool minimal = false;        // reduction.end is ReductionEnd::minimal, also of older stores
  Reduction reduction = {};    // how `plan` was made
  bool needs_history = false;  // calls of earlier plans of the worker are part of `plan`
  Reliability reliability;
  std::vector<AttributionRow> attribution;
  std::vector<Attribution> culprits;  // of the failure of `plan`, by source
  std::string fault_detail;           // kernel, access, address relative to the buffer; for people
  Environment environment;
  std::int64_t campaign = 0;
  std::uint64_t plans_to_first = 0;  // plans screened in the campaign before it was seen
  double seconds_to_first = 0;
  std::int64_t sightings = 1;  // plans that showed the signature
  std::string first_seen;      // UTC, ISO 8601
  std::string last_seen;
  Ledger ledger = {};  // what its entries say; read, and never written with the finding
};

// A file, as bytes, that belongs to a finding.
struct Artifact {
  std::string kind;  // "log": how the worker ended and what it printed last
  std::string name;
  std::string added;  // UTC, ISO 8601
  std::string bytes;
};

struct CampaignStats {
  double seconds = 0;
  std::uint64_t plans = 0, calls = 0, trials = 0;
  std::uint64_t pass = 0, fail = 0, inconclusive = 0, not_applicable = 0, harness_errors = 0;
  std::uint64_t suspects = 0, new_findings = 0, known_findings = 0;
  std::uint64_t workers_lost = 0;
  // Of calls of targets with a reference that were screened; zeros also of campaigns that were
  // stored before this was counted.
  ReferenceCount reference = {};

  bool operator==(const CampaignStats&) const = default;
};

struct Campaign {
  std::int64_t id = 0;
  std::string uid = {};  // the same in every store that it was merged into; given by the store
  std::uint64_t seed = 0;
  std::string device;
  std::string command;  // as typed
  std::string started;  // UTC, ISO 8601
  std::string ended;    // "" while it runs, or when it was killed
  CampaignStats stats;
};

std::string_view name_of(State state);
// What k of n runs in fresh workers make of a failure: confirmed where all failed, flaky where some
// did, unconfirmed where none did, and a suspect where no run could be judged.
inline State state_of(const Reliability& runs) {
  if (runs.n == 0) return State::suspect;
  if (runs.k == 0) return State::unconfirmed;
  return runs.k == runs.n ? State::confirmed : State::flaky;
}
// It recurs in fresh workers.
inline bool was_found(State state) {
  return state == State::confirmed || state == State::flaky;
}

// "2025-01-31T12:34:56Z"; such texts sort by time.
std::string utc_now();
// "2025-01-31T12:34:56.123456Z"
std::string utc_now_us();
// Now less so many days, as utc_now_us().
std::string utc_days_ago(double days);
// The first that utc_now_us() could give and that sorts behind `time`, a text of one of the above;
// "" where it is none.
std::string just_after(std::string_view time);

}  // namespace redzone::store

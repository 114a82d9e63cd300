// What an oracle says of a plan, and what makes two failures the same bug.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "core/enum_names.h"
#include "core/error.h"

namespace redzone {

// Kinds of failure. Their order here says nothing: that of enum_table() does.
enum class FailKind : std::uint8_t {
  launch_config,     // a launch that no device can run, or a product that overflows
  illegal_access,    // fault on an address
  fault,             // any other device error, signal, or error of the target's wrapper
  hang,              // did not end before the deadline
  redzone,           // a canary was overwritten
  use_after_free,    // memory accessed while it was not allocated, in stream order
  race,              // threads of a block access shared memory in no order
  barrier,           // a barrier that not all threads reach
  scratch,           // less of it asked for than the kernel's metadata demands
  input_changed,     // a const input was overwritten
  nondeterministic,  // equal runs differ
  schedule,          // outputs depend on the order of blocks and threads
  uninitialized,     // outputs depend on what was in memory before
  history,           // outputs depend on the calls that came before
  async,             // outputs depend on whether launches are synchronized
  graph,             // outputs depend on whether calls are captured and replayed
  placement,         // outputs depend on where the buffers lie
  allocation,        // outputs depend on what memory is used again
  reference,         // outputs differ from the reference
  divergence,        // two runs differ and no single axis explains it
};

// Most specific first (see more_specific()).
constexpr auto enum_table(FailKind) {
  return enum_names<FailKind>("kind of failure", {{FailKind::launch_config, "launch-config"},
                                                  {FailKind::illegal_access, "illegal-access"},
                                                  {FailKind::fault, "fault"},
                                                  {FailKind::hang, "hang"},
                                                  {FailKind::redzone, "redzone"},
                                                  {FailKind::use_after_free, "use-after-free"},
                                                  {FailKind::race, "race"},
                                                  {FailKind::barrier, "barrier"},
                                                  {FailKind::scratch, "scratch-too-small"},
                                                  {FailKind::input_changed, "input-changed"},
                                                  {FailKind::nondeterministic, "nondeterministic"},
                                                  {FailKind::schedule, "schedule"},
                                                  {FailKind::uninitialized, "uninitialized"},
                                                  {FailKind::history, "history"},
                                                  {FailKind::async, "async"},
                                                  {FailKind::graph, "graph"},
                                                  {FailKind::placement, "placement"},
                                                  {FailKind::allocation, "allocation"},
                                                  {FailKind::reference, "reference"},
                                                  {FailKind::divergence, "divergence"}});
}

// When a plan shows several failures, the most specific one names the finding: what ends a trial,
// then what is seen in a single trial, then what a comparison along one axis shows, then that
// something is wrong or differs.
bool more_specific(FailKind a, FailKind b);
// The launch is refused, or the worker is lost: nothing is seen of what comes after.
bool ends_trial(FailKind kind);
// A single trial shows it by itself; no other trial is needed to compare with.
bool is_direct(FailKind kind);

// Never an address, a thread or a seed. `where` is a kernel name where one is known.
struct Signature {
  FailKind kind = FailKind::divergence;
  std::string target;
  std::string where;   // kernel, or error code for `fault`
  std::string buffer;  // tensor or scratch name
  std::string side;    // before | after | inside | gap | ""
  std::string access;  // read | write | ""

  auto operator<=>(const Signature&) const = default;
  bool operator==(const Signature&) const = default;

  // "illegal-access: read after k in scan (chunk_fwd_h)".
  std::string text() const;
  // 16 hex digits over all fields; stable across versions.
  std::string hash() const;
};

// The same bug? Kind and target are equal; a part that one of the two does not know (on the GPU an
// asynchronous fault names no kernel) does not tell them apart.
bool same_bug(const Signature& a, const Signature& b);

enum class Outcome : std::uint8_t { pass, fail, inconclusive, not_applicable, harness_error };

constexpr auto enum_table(Outcome) {
  return enum_names<Outcome>("outcome", {{Outcome::pass, "pass"},
                                         {Outcome::fail, "fail"},
                                         {Outcome::inconclusive, "inconclusive"},
                                         {Outcome::not_applicable, "not-applicable"},
                                         {Outcome::harness_error, "harness-error"}});
}

// How many calls of a plan were compared with the target's reference.
struct ReferenceCount {
  std::int64_t compared = 0;
  // All calls of the plans that were judged, by whether anything could be compared or not.
  std::int64_t calls = 0;

  ReferenceCount& operator+=(const ReferenceCount& more) {
    compared += more.compared;
    calls += more.calls;
    return *this;
  }
  bool operator==(const ReferenceCount&) const = default;
};

struct Verdict {
  Outcome outcome = Outcome::pass;
  std::string oracle;
  std::string reason;      // one sentence; for pass empty
  Signature signature;     // for fail
  std::int32_t call = -1;  // call index the failure shows in, where known
  // Of an oracle whose trials ask for the reference; zeros: it asks for none, or nothing was run.
  ReferenceCount reference = {};

  static Verdict pass(std::string oracle) {
    return {Outcome::pass, std::move(oracle), {}, {}, -1, {}};
  }
  bool failed() const { return outcome == Outcome::fail; }
};

}  // namespace redzone

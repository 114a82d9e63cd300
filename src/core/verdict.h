// The verdict of an oracle on a plan, and when two failures are the same bug.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "core/enum_names.h"
#include "core/error.h"

namespace redzone {

// Kinds of failure. Specificity is the order of enum_table(), not the order here.
enum class FailKind : std::uint8_t {
  launch_config,        // a launch that no device can run, or an index product that overflows
  illegal_access,       // fault on an address
  misaligned,           // an access that is not aligned as its instruction requires
  fault,                // any other device error, signal, or error of the target's wrapper
  hang,                 // did not end before the deadline
  redzone,              // a canary was overwritten
  use_after_free,       // memory accessed while it was not allocated, in stream order
  race,                 // threads of a block access shared memory without synchronization
  barrier,              // a barrier that not all threads reach, or a mask without the lane
  undefined,            // undefined behavior in C++: an overflow, a shift, an index
  scratch,              // less scratch requested than the kernel's metadata demands
  input_changed,        // a const input was overwritten
  order,                // outputs depend on the order of two operations that nothing orders
  uninitialized_local,  // outputs depend on the contents of the host's stack
  nondeterministic,     // equal runs differ
  schedule,             // outputs depend on the order of blocks and threads, or on a busy device
  uninitialized,        // outputs depend on earlier contents of memory
  host_thread,          // outputs depend on which host thread makes a call
  address,              // outputs depend on whether tensors reuse the addresses of earlier calls
  history,              // outputs depend on the calls that came before
  async,                // outputs depend on whether launches are synchronized
  graph,                // outputs depend on whether calls are captured and replayed
  placement,            // outputs depend on the addresses of the buffers
  allocation,           // outputs depend on which memory is reused
  reference,            // outputs differ from the reference
  divergence,           // two runs differ and no single axis explains it
};

// Most specific first (see more_specific()).
constexpr auto enum_table(FailKind) {
  return enum_names<FailKind>("kind of failure",
                              {{FailKind::launch_config, "launch-config"},
                               {FailKind::illegal_access, "illegal-access"},
                               {FailKind::misaligned, "misaligned-access"},
                               {FailKind::fault, "fault"},
                               {FailKind::hang, "hang"},
                               {FailKind::redzone, "redzone"},
                               {FailKind::use_after_free, "use-after-free"},
                               {FailKind::race, "race"},
                               {FailKind::barrier, "barrier"},
                               {FailKind::undefined, "undefined-behavior"},
                               {FailKind::scratch, "scratch-too-small"},
                               {FailKind::input_changed, "input-changed"},
                               {FailKind::order, "order"},
                               {FailKind::uninitialized_local, "uninitialized-local"},
                               {FailKind::nondeterministic, "nondeterministic"},
                               {FailKind::schedule, "schedule"},
                               {FailKind::uninitialized, "uninitialized"},
                               {FailKind::host_thread, "host-thread"},
                               {FailKind::address, "address"},
                               {FailKind::history, "history"},
                               {FailKind::async, "async"},
                               {FailKind::graph, "graph"},
                               {FailKind::placement, "placement"},
                               {FailKind::allocation, "allocation"},
                               {FailKind::reference, "reference"},
                               {FailKind::divergence, "divergence"}});
}

// If a plan shows several failures, the most specific one names the finding: failures that end a
// trial, then those seen in a single trial, then differences along one axis, then wrong or
// differing outputs in general.
bool more_specific(FailKind a, FailKind b);
// True if the failure ends the trial (a refused launch or a lost worker): later work is not
// observed.
bool ends_trial(FailKind kind);
// True if a single trial shows the failure, without comparison.
bool is_direct(FailKind kind);
// True if the kind only means that outputs are wrong or differ, not along which axis or by what
// access.
bool is_vague(FailKind kind);
// True if only a comparison with the target's reference shows the failure: a call that was not
// compared has then not passed.
bool needs_reference(FailKind kind);

// Contains no address, thread or seed. `where` is a kernel name if known.
struct Signature {
  FailKind kind = FailKind::divergence;
  std::string target;
  // Kernel; for `fault` an error code (Fault::code).
  std::string where;
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

// Whether two failures are the same bug: kind and target are equal, and each other part is equal or
// empty in one of them. A part may be empty because an asynchronous fault on the GPU names no
// kernel, and earlier versions stored only the type of an exception. The two operations of a
// missing order may differ, because they depend on how many operations on the buffer a plan has.
bool same_bug(const Signature& a, const Signature& b);

// Whether `fault` and `canary` are the same write beside a buffer. One bug can have either form:
// the size and the placement of the buffer determine whether the write hits the slack or the guard
// page.
bool is_fault_of(const Signature& fault, const Signature& canary);

// Whether two failures are one bug, or one write beside a buffer in either form (is_fault_of()).
bool same_bug_in_any_form(const Signature& a, const Signature& b);

// Whether a run that fails with `seen` fails as recorded: by the same bug in any form, or under a
// name that earlier versions used for it.
bool fails_as(const Signature& seen, const Signature& recorded);

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
  // All calls of the plans that were judged, whether or not they could be compared.
  std::int64_t calls = 0;
  // Compared calls of which only a sample of each output was compared.
  std::int64_t sampled = 0;

  ReferenceCount& operator+=(const ReferenceCount& more) {
    compared += more.compared;
    calls += more.calls;
    sampled += more.sampled;
    return *this;
  }
  bool operator==(const ReferenceCount&) const = default;
};

struct Verdict {
  Outcome outcome = Outcome::pass;
  std::string oracle;
  std::string reason;      // one sentence; empty for pass
  Signature signature;     // set for fail
  std::int32_t call = -1;  // index of the failing call, if known
  // Set by an oracle whose trials use the reference; zeros if it uses none or nothing was run.
  ReferenceCount reference = {};

  static Verdict pass(std::string oracle) {
    return {Outcome::pass, std::move(oracle), {}, {}, -1, {}};
  }
  bool failed() const { return outcome == Outcome::fail; }
};

}  // namespace redzone

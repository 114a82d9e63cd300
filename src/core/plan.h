// The test case: an ordered list of steps and the mode to run them in. A plain value.
#pragma once

#include <redzone/spec.h>

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "core/enum_names.h"
#include "core/layout.h"

namespace redzone {

// blocking: synchronize after each launch. async: enqueue freely, synchronize at the end.
// gated: launches are blocked: the streams are held until the whole plan is enqueued.
enum class Launch : std::uint8_t { blocking, async, gated };
// guard: buffers between guard pages. plain: the device's ordinary allocator, no guard, no canary.
// The other two allocate in stream order, so that memory is reused while work is queued, as in
// production; they have no guard and no canary either. pool: the driver's stream-ordered allocator
// (cuMemAllocAsync). caching: a cache of blocks per stream, like PyTorch's.
enum class Allocator : std::uint8_t { guard, plain, pool, caching };
// The side of a buffer with the guard page. guard_after: the buffer ends at the page, so that
// accesses past its end fault. guard_before: it starts there, so that accesses before its start
// fault.
enum class Placement : std::uint8_t { guard_after, guard_before };
// Alignment of the base addresses of tensors. promised: at least what the spec promises, often
// more. exact: an odd multiple of the promised alignment, so no more than promised. element: like
// `promised`, but if the spec promises no alignment, the storage ends at a multiple of 16 bytes.
// mixed: some tensors of a call like `exact`, the others aligned further, to at least 16 bytes, so
// that tensors of one size differ (is_aligned_further()). Except with `promised`, a base has the
// same remainder in all trials of a plan, with every placement and allocator: a kernel may use
// other code, with other rounding, for tensors that are aligned further.
enum class Alignment : std::uint8_t { promised, exact, element, mixed };

// For plans with mixed alignments: whether tensor `k` of the spec is aligned further than promised
// in a call with this data seed. Takes an upper bit of a product, so that small seeds differ and
// the result is not correlated with other choices that the seed determines.
inline constexpr bool is_aligned_further(std::uint64_t seed, std::size_t k) {
  return (seed * 0x9e3779b97f4a7c15u >> (63 - k % 64) & 1) != 0;
}
// The host threads that make the calls. one: one thread makes all calls. each: each call step, and
// each body of a graph, has its own thread, which ends before the next step begins; thread-local
// state of the target ends with the thread (thread_local objects, and whatever their destructors
// release). Calls never overlap in time.
enum class Callers : std::uint8_t { one, each };
// Where the tensors of a call are placed. distinct: each call has its own memory, up to the limits
// of a trial (TrialLimits). reused: in the memory of earlier calls, so that tensors of one size
// have one address with other data, as in a framework's allocator.
enum class Addresses : std::uint8_t { distinct, reused };
// Contents of the host's stack below the frame that calls the target. as_left: whatever earlier
// code left there. The others: one repeated word, so that a launcher which reads an uninitialized
// local variable reads a large integer that is NaN (filled) or a positive number (filled_finite) as
// a float. Two fills, because comparisons with NaN are false, as they often are with leftover
// values.
enum class Stack : std::uint8_t { as_left, filled, filled_finite };
// The tool that the trial runs under: a tool of compute-sanitizer, on CUDA, or a check of the
// device itself (is_check()), for which plugins are built a second time.
enum class SanitizerTool : std::uint8_t {
  none,
  memcheck,
  racecheck,
  initcheck,
  synccheck,
  races,
  init,
  sync,
  undefined,
};

// True for a check of the device.
inline constexpr bool is_check(SanitizerTool tool) {
  switch (tool) {
    case SanitizerTool::races:
    case SanitizerTool::init:
    case SanitizerTool::sync:
    case SanitizerTool::undefined:
      return true;
    case SanitizerTool::none:
    case SanitizerTool::memcheck:
    case SanitizerTool::racecheck:
    case SanitizerTool::initcheck:
    case SanitizerTool::synccheck:
      break;
  }
  return false;
}

constexpr auto enum_table(Launch) {
  return enum_names<Launch>(
      "launch mode",
      {{Launch::blocking, "blocking"}, {Launch::async, "async"}, {Launch::gated, "gated"}});
}
constexpr auto enum_table(Allocator) {
  return enum_names<Allocator>("allocator", {{Allocator::guard, "guard"},
                                             {Allocator::plain, "plain"},
                                             {Allocator::pool, "pool"},
                                             {Allocator::caching, "caching"}});
}
constexpr auto enum_table(Placement) {
  return enum_names<Placement>(
      "placement",
      {{Placement::guard_after, "guard_after"}, {Placement::guard_before, "guard_before"}},
      std::array{EnumName<Placement>{Placement::guard_after, "tail"},
                 EnumName<Placement>{Placement::guard_before, "head"}});
}
constexpr auto enum_table(Alignment) {
  return enum_names<Alignment>("alignment", {{Alignment::promised, "promised"},
                                             {Alignment::exact, "exact"},
                                             {Alignment::element, "element"},
                                             {Alignment::mixed, "mixed"}});
}
constexpr auto enum_table(Callers) {
  return enum_names<Callers>("callers", {{Callers::one, "one"}, {Callers::each, "each"}});
}
constexpr auto enum_table(Addresses) {
  return enum_names<Addresses>("addresses",
                               {{Addresses::distinct, "distinct"}, {Addresses::reused, "reused"}});
}
constexpr auto enum_table(Stack) {
  return enum_names<Stack>("stack", {{Stack::as_left, "as_left"},
                                     {Stack::filled, "filled"},
                                     {Stack::filled_finite, "filled_finite"}});
}
constexpr auto enum_table(SanitizerTool) {
  return enum_names<SanitizerTool>("sanitizer", {{SanitizerTool::none, "none"},
                                                 {SanitizerTool::memcheck, "memcheck"},
                                                 {SanitizerTool::racecheck, "racecheck"},
                                                 {SanitizerTool::initcheck, "initcheck"},
                                                 {SanitizerTool::synccheck, "synccheck"},
                                                 {SanitizerTool::races, "races"},
                                                 {SanitizerTool::init, "init"},
                                                 {SanitizerTool::sync, "sync"},
                                                 {SanitizerTool::undefined, "undefined"}});
}

// When the pool may reuse memory that was freed on another stream. The defaults are those of the
// driver; cuda.h documents the four settings as CU_MEMPOOL_ATTR_*.
struct PoolPolicy {
  bool follow_event_dependencies = true;      // if events order the streams
  bool allow_opportunistic = true;            // if the free has already completed
  bool allow_internal_dependencies = true;    // by making the other stream wait
  std::uint64_t release_threshold_bytes = 0;  // kept when a synchronization releases memory; below
                                              // 2^63

  auto operator<=>(const PoolPolicy&) const = default;
};

struct Mode {
  Launch launch = Launch::async;
  Allocator allocator = Allocator::guard;
  Placement placement = Placement::guard_after;
  std::uint32_t poison = 0xffffffffu;  // fills outputs and scratch before the call
  std::uint64_t schedule_seed = 0;     // see SeedDecides (core/device_traits.h)
  SanitizerTool sanitizer = SanitizerTool::none;
  PoolPolicy pool = {};  // the default unless `allocator` is `pool`
  Alignment alignment = Alignment::promised;
  Callers callers = Callers::one;
  Addresses addresses = Addresses::distinct;
  Stack stack = Stack::as_left;

  auto operator<=>(const Mode&) const = default;
};

// The mode with another allocator; PoolPolicy is reset unless the new allocator is `pool`.
inline Mode with_allocator(Mode mode, Allocator allocator) {
  mode.allocator = allocator;
  if (allocator != Allocator::pool) mode.pool = {};
  return mode;
}

// One invocation of the target.
struct Call {
  Dims dims;
  Config config;
  std::map<std::string, Layout, std::less<>> layouts;  // absent: contiguous
  std::uint64_t seed = 1;                              // of the input data; below 2^63

  const Layout& layout(std::string_view tensor) const;
  bool operator==(const Call&) const = default;
};

struct CallStep {
  Call call;
  // Makes the same call `repeat` times in a row on the same buffers, without a synchronization.
  std::int64_t repeat = 1;
  std::int64_t stream = 0;
  // 0: runs here. 1..kMaxGraphs: consecutive call steps with this number, and the waits between
  // them, form the body of that graph, which is captured here and run by its ReplaySteps. A body
  // begins on the stream of its first call; every other stream in it must first wait for a stream
  // of the body.
  std::int64_t graph = 0;
  bool operator==(const CallStep&) const = default;
};

// The host waits for all streams.
struct SyncStep {
  bool operator==(const SyncStep&) const = default;
};

// `stream` waits for all work enqueued on `on` so far.
struct WaitStep {
  std::int64_t stream = 0;
  std::int64_t on = 0;
  bool operator==(const WaitStep&) const = default;
};

// Runs a captured graph `repeat` times on `stream`. Before each run, in-out tensors, outputs and
// scratch are filled again, as for plain calls.
struct ReplayStep {
  std::int64_t graph = 1;
  std::int64_t repeat = 1;
  std::int64_t stream = 0;
  bool operator==(const ReplayStep&) const = default;
};

// Append new alternatives at the end: the index is part of the wire format.
using Step = std::variant<CallStep, SyncStep, WaitStep, ReplayStep>;

struct Plan {
  std::string target;
  Mode mode;
  std::vector<Step> steps;
  bool operator==(const Plan&) const = default;
};

// Prints like print_plan(), for messages of tests.
std::ostream& operator<<(std::ostream& out, const Plan& plan);
std::ostream& operator<<(std::ostream& out, const Mode& mode);

inline constexpr int kPlanVersion = 1;
inline constexpr std::int64_t kMaxRepeat = 4096;
inline constexpr std::int64_t kMaxStreams = 8;
inline constexpr std::int64_t kMaxGraphs = 8;
inline constexpr std::size_t kMaxSteps = 4096;

// The call steps of a plan, in order. An index into this list is the "call index" of progress
// markers, observations and faults; `repeat` does not add indices.
std::vector<const CallStep*> calls_of(const Plan& plan);

// Number of launches of the target, repeats included; a captured call counts once more per replay.
std::int64_t call_count(const Plan& plan);

bool has_graphs(const Plan& plan);
// Whether any step names a stream other than 0.
bool has_streams(const Plan& plan);

// The same calls without graphs: calls run where they are captured, and once more at each replay.
Plan with_plain_graphs(const Plan& plan);

// 32 hex digits, from text_to_hash(). Equal plans have the same hash on every machine.
std::string plan_hash(const Plan& plan);

}  // namespace redzone

// One way to run a plan, and the resulting observations, without judgement.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/own_memory.h"
#include "core/plan.h"

namespace redzone {

// Forces the order of two operations, given by the numbers that a record of the same plan assigned
// to them (OrderedOperation::number): one stream is held at its operation until the other operation
// has run. The stream of `first` is held until `second` has run in either case, after `first` or
// before it, so two trials that differ in `second_first` differ only in the order of these two
// operations. If `first` is a free, nothing is held: with `second_first` the memory keeps its
// bytes, as if it were freed later. Only orders that the program allows can be forced, because a
// device ends a hold that would never end.
struct Direction {
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  bool second_first = false;

  bool operator==(const Direction&) const = default;
};

// Oracles request trials; the executor runs them.
struct TrialSpec {
  Mode mode = {};
  // Order in which the calls run, as call indices; empty: as written. A reordered trial runs the
  // calls independently: sync, wait and replay steps are dropped, all calls use stream 0, and each
  // runs once, regardless of its `repeat` and graph.
  std::vector<std::uint32_t> order = {};
  // Compare the outputs of each call with the target's float64 reference, if it has one.
  bool reference = false;
  // Run the calls of graphs without graphs: where they are captured, and again (once) at each
  // replay.
  bool plain_graphs = false;
  // Calls, ascending, that `reference` skips to save time.
  std::vector<std::uint32_t> left_out = {};
  // If the whole reference is skipped, compare a sample of rows (TargetSpec::sampled_rows).
  bool samples = true;
  // Guarded buffers have a whole canary window on each side, and the guard page beyond it: a write
  // shortly past a buffer changes a canary instead of ending the worker by a fault, and a read
  // there returns bytes that depend on the poison.
  bool wide_canaries = false;
  // Records which operations use which buffers in which order: Observation::order.
  bool records_order = false;
  // Requires `records_order`.
  std::optional<Direction> direction = {};

  bool operator==(const TrialSpec&) const = default;
};

enum class Access : std::uint8_t { unknown, read, write };
enum class Side : std::uint8_t { unknown, before, after, inside };

constexpr auto enum_table(Access) {
  return enum_names<Access>(
      "access", {{Access::unknown, "unknown"}, {Access::read, "read"}, {Access::write, "write"}});
}
constexpr auto enum_table(Side) {
  return enum_names<Side>("side", {{Side::unknown, "unknown"},
                                   {Side::before, "before"},
                                   {Side::after, "after"},
                                   {Side::inside, "inside"}});
}

// An address farther than this from every buffer is attributed to no buffer.
inline constexpr std::uint64_t kNearBytes = std::uint64_t{1} << 20;

// Fault::code of an access that is not aligned as its instruction requires, on every device.
inline constexpr std::string_view kMisalignedCode = "CUDA_ERROR_MISALIGNED_ADDRESS";

// How a trial ended.
enum class End : std::uint8_t {
  completed,
  fault,          // a device error, or a signal in the target: see `fault`
  hang,           // the deadline passed; the worker was killed
  exited,         // the worker process exited (the target called exit())
  unsupported,    // the target's wrapper refused the call, or the device does not support it
  out_of_memory,  // the buffers do not fit
  worker_error,   // a malformed message, or a worker that could not start
  spec_error,     // the spec or reference is wrong: a mistake of the target's author, not a failure
                  // of the target
};

constexpr auto enum_table(End) {
  return enum_names<End>("end of a trial", {{End::completed, "completed"},
                                            {End::fault, "fault"},
                                            {End::hang, "hang"},
                                            {End::exited, "exited"},
                                            {End::unsupported, "unsupported"},
                                            {End::out_of_memory, "out-of-memory"},
                                            {End::worker_error, "worker-error"},
                                            {End::spec_error, "spec-error"}});
}

// Buffer name that reports use for the dynamic shared memory of a kernel.
inline constexpr char kSharedBuffer[] = "shared";

// Fault::code of a write behind dynamic shared memory that no guard page stopped: the bytes there
// had changed when the block ended.
inline constexpr std::string_view kSharedOverrunCode = "shared-overrun";

// Fault::code of a target that misuses the target API; earlier versions used it for all exceptions.
inline constexpr std::string_view kTargetErrorCode = "target-error";

// Prefix of Fault::code for an exception of the target. The type follows: "TYPE: TEXT" in C++,
// "TYPE in FUNCTION: LINE" in Python, or "TYPE" alone.
inline constexpr std::string_view kException = "exception: ";

// Known facts about a fault. Indices are those of calls_of(plan); -1 and "" mean unknown.
struct Fault {
  std::string code;  // "CUDA_ERROR_ILLEGAL_ADDRESS", "SIGSEGV", "invalid-launch", ...
  std::int32_t call = -1;
  std::string kernel = {};
  std::string buffer = {};  // tensor or scratch that the address is in, or nearest to
  Side side = Side::unknown;
  Access access = Access::unknown;
  std::int64_t distance_bytes = 0;  // distance from the nearest edge of the buffer; 0 if unknown
  std::string detail = {};          // for people; never part of a signature
  std::string known_by = {};        // source of the call index, named as in Attribution::source

  bool operator==(const Fault&) const = default;
};

// One buffer of one call after the trial. A complex element counts as two.
struct BufferObservation {
  std::string name;  // tensor, scratch or workspace
  Role role = Role::out;
  bool scratch = false;  // scratch or workspace rather than a tensor: only its canaries are judged
  // Canaries or guard pages surround the buffer. If false, counts of 0 below do not mean that
  // nothing was written there.
  bool surrounded = false;
  std::uint64_t digest = 0;  // of all elements, independent of layout padding
  std::uint64_t numel = 0;
  std::uint64_t dirty_before = 0;  // canary bytes changed before, after, and between rows
  std::uint64_t dirty_after = 0;
  std::uint64_t dirty_gaps = 0;
  // Elements that differ from the fill, in a const input or in freed memory.
  std::uint64_t changed = 0;
  std::int64_t first_dirty_byte = 0;  // offset from element 0 of the first dirty canary byte

  bool operator==(const BufferObservation&) const = default;
};

// Whether the outputs of a completed call were compared with the reference.
enum class Comparison : std::uint8_t {
  none,       // not requested, no reference, or the trial ended before
  compared,   // see CallObservation::references
  left_out,   // TrialSpec::left_out
  too_large,  // the reference would need more host memory than allowed
  empty,      // no output has an element
  // A sample of rows of each output was compared (TargetSpec::sampled_rows):
  sampled,         // in every trial, because the call is so large (core/work.h)
  sampled_instead  // because the whole was left out, or is too large for this machine's memory
};

constexpr auto enum_table(Comparison) {
  return enum_names<Comparison>("comparison", {{Comparison::none, "none"},
                                               {Comparison::compared, "compared"},
                                               {Comparison::left_out, "left-out"},
                                               {Comparison::too_large, "too-large"},
                                               {Comparison::empty, "empty"},
                                               {Comparison::sampled, "sampled"},
                                               {Comparison::sampled_instead, "sampled-instead"}});
}

// Comparison of one output with the reference. A complex element counts as two.
struct ReferenceObservation {
  std::string tensor;
  std::uint64_t numel = 0;  // elements that were compared
  std::uint64_t mismatches = 0;
  std::uint64_t first_index = 0;  // row-major linear index of the first mismatch
  double got = 0;
  double want = 0;
  double worst = 0;  // largest |got - want| / (abs + rel * |want|)
  // Total number of elements of the output if only a sample was compared; 0: all were compared.
  std::uint64_t of = 0;

  bool operator==(const ReferenceObservation&) const = default;
};

struct LaunchObservation {
  std::string kernel;
  std::int64_t grid[3] = {1, 1, 1};
  std::int64_t block[3] = {1, 1, 1};
  std::int64_t shared_bytes = 0;

  bool operator==(const LaunchObservation&) const = default;
};

// A request for scratch that declares the kernel's need: Context::scratch, ScratchNeed.
struct ScratchObservation {
  std::string name;
  std::uint64_t bytes = 0;  // requested; 0: a null pointer
  std::uint64_t align = 1;
  std::uint64_t bytes_per_cta = 0;
  std::int64_t grid[3] = {1, 1, 1};  // grid of programs
  std::int64_t num_ctas = 1;         // CTAs per program
  std::uint64_t need_align = 1;

  bool operator==(const ScratchObservation&) const = default;
};

// Maximum per call; further ones are dropped.
inline constexpr std::size_t kMostScratchObservations = 32;

// A TMA descriptor that could not be encoded: Context::encode_tiled.
struct EncodeObservation {
  std::int32_t call = -1;
  std::string name;         // of a tensor, as given by the target
  std::int32_t code = 1;    // the CUresult
  std::string rule;         // "stride-alignment"; "" if no known rule is broken
  std::int32_t dim = -1;    // dim of the descriptor, 0 the innermost; -1: not about a dim
  bool degenerate = false;  // the stride of a dim of size 1, which is never used
  std::string text;         // for people

  bool operator==(const EncodeObservation&) const = default;
};
// Maximum per trial; further ones are dropped.
inline constexpr std::size_t kMostEncodeObservations = 32;

struct CallObservation {
  std::int32_t call = -1;
  std::vector<BufferObservation> buffers;
  std::vector<ReferenceObservation> references;
  std::vector<LaunchObservation> launches;  // of the first repeat only
  // Requests of all repeats, in order; a request equal to its predecessor is omitted.
  std::vector<ScratchObservation> scratch = {};
  Comparison comparison = Comparison::none;
  // Time of the reference and the comparison; 0 if the result of an equal call was reused.
  std::uint64_t reference_us = 0;

  bool operator==(const CallObservation&) const = default;
};

// One record of compute-sanitizer, or of a check of the device, mapped to call, kernel and buffer.
// "" and -1 mean unknown.
struct SanitizerRecord {
  // "invalid-read", "invalid-write", "invalid-atomic", "misaligned-..." of the same three,
  // "use-after-free", "use-before-alloc", "race", "race-raw", "race-war", "race-waw",
  // "uninitialized-read", "barrier-divergence", "barrier-error", "absent-lane", "unnamed-lane",
  // "divergent-lane", "misaligned-access", "undefined-overflow", "undefined-shift",
  // "undefined-division", "undefined-index", "api-error", "other"
  std::string kind;
  bool warning = false;  // below the tool's level of errors
  std::string space;     // "global", "shared", "local"
  Access access = Access::unknown;
  std::int64_t size_bytes = 0;  // size of the access; 0 if unknown
  std::string kernel;           // its name without namespaces and parameters
  std::int32_t call = -1;
  std::string buffer;  // tensor or scratch that the address is in, or nearest to
  Side side = Side::unknown;
  std::int64_t distance_bytes = 0;  // 1: the byte next to the buffer; 0: inside, or unknown
  std::uint64_t address = 0;
  std::string thread, block;  // "64,0,0"
  std::string location;       // "p.cu:8"
  // The earlier access of a race, if known: "write at p.cu:6 by thread (0,0,0) of block (0,0,0)".
  std::string other = {};
  std::string text;         // the tool's message, on one line; never part of a signature
  std::uint64_t count = 1;  // number of similar records; this is the first of them

  bool operator==(const SanitizerRecord&) const = default;
};

// The report of a tool on a trial. Records that differ only in thread and address are merged.
struct SanitizerReport {
  SanitizerTool tool = SanitizerTool::none;
  std::vector<SanitizerRecord> records;
  std::uint64_t dropped = 0;  // records beyond the limit
  std::string problem;        // why the report is incomplete; "" if it is complete

  bool operator==(const SanitizerReport&) const = default;
};

// Possible errors in the order of two operations that use one buffer.
enum class OrderProblem : std::uint8_t {
  unordered_use,   // at least one may write the buffer, and nothing orders them
  unordered_free,  // one frees the buffer, and nothing orders them
  freed_use,       // the first frees the buffer, and the second comes after it
  host_use,        // a kernel or copy may use pinned memory while the host does
};

constexpr auto enum_table(OrderProblem) {
  return enum_names<OrderProblem>("problem of order",
                                  {{OrderProblem::unordered_use, "unordered-use"},
                                   {OrderProblem::unordered_free, "unordered-free"},
                                   {OrderProblem::freed_use, "freed-use"},
                                   {OrderProblem::host_use, "host-use"}});
}

// Operations that a trial enqueues or performs in stream order.
enum class OperationKind : std::uint8_t {
  kernel,
  copy,
  memset,
  free,
  fill,   // fill of the tensors, by the harness
  check,  // check of the results, by the harness
  host,   // the CPU may access pinned memory
  allocation,
};

constexpr auto enum_table(OperationKind) {
  using K = OperationKind;
  return enum_names<K>("kind of operation", {{K::kernel, "kernel"},
                                             {K::copy, "copy"},
                                             {K::memset, "memset"},
                                             {K::free, "free"},
                                             {K::fill, "fill"},
                                             {K::check, "check"},
                                             {K::host, "host"},
                                             {K::allocation, "allocation"}});
}

struct OrderedOperation {
  std::uint32_t number = 0;  // within its trial; the same in each trial of the plan
  OperationKind kind = OperationKind::kernel;
  std::string name;         // name of the kernel, or name_of(kind)
  std::int32_t call = -1;   // call that enqueued it; -1: the harness
  std::int32_t stream = 0;  // index of a stream of the plan; if `side`, of a side stream of the
                            // target, from 1
  bool side = false;

  bool operator==(const OrderedOperation&) const = default;
};

// Two operations whose order the program does not determine although both may use one buffer. The
// accesses of a kernel through a pointer are unknown, so a candidate is not a failure: see
// oracles/order.h.
struct OrderCandidate {
  OrderProblem problem = OrderProblem::unordered_use;
  std::string buffer;              // as in BufferObservation
  std::int32_t buffer_call = -1;   // call that requested the buffer
  OrderedOperation first, second;  // in the order in which they were enqueued

  bool operator==(const OrderCandidate&) const = default;
};
// Maximum per trial, with distinct names; further ones are dropped.
inline constexpr std::size_t kMostOrderCandidates = 16;

// Set if TrialSpec::records_order is true.
struct OrderObservation {
  std::vector<OrderCandidate> candidates;
  bool directed = false;  // the two operations of TrialSpec::direction ran in the requested order

  bool operator==(const OrderObservation&) const = default;
};

struct Observation {
  End end = End::worker_error;
  std::string message;  // the reason, for unsupported, out_of_memory and the errors
  std::optional<Fault> fault;
  // The completed calls, by call index; the last one is partial if the trial was refused
  // (unsupported, out of memory).
  std::vector<CallObservation> calls;
  // Failed encodings of all calls, including incomplete ones; empty if the worker was lost.
  std::vector<EncodeObservation> encodes = {};
  // Time in the worker, including set-up and checks; for a lost worker, until its end was detected.
  std::uint64_t wall_us = 0;
  std::uint64_t mapping_calls = 0;  // guard-arena mapping calls that this trial had to make
  std::uint64_t bytes = 0;          // device memory in buffers
  // The trial completed, and its calls enqueued nothing that Redzone sees: no launch, copy, memset
  // or replay. False after a target of the process has obtained the handle of a stream, because the
  // target may keep it.
  bool idle = false;
  // Set if the trial ran under a tool and its worker was not lost.
  std::optional<SanitizerReport> sanitizer = {};
  // Set if the target can allocate memory by itself and the worker was not lost.
  std::optional<OwnMemory> own_memory = {};
  // Set if the trial records the order and the worker was not lost; also set after a fault.
  std::optional<OrderObservation> order = {};

  bool operator==(const Observation&) const = default;
};

// "invalid write of 4 bytes in scan at p.cu:8 by thread (64,0,0) of block (0,0,0), 5 bytes after
// 'y' of call 2 (3 records alike)".
std::string describe(const SanitizerRecord& record);

}  // namespace redzone

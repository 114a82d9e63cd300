// The file in which a guarded process records its findings. The process maps the file, so
// everything written survives if the process is killed, leaves by _exit() or hangs; nothing has to
// be sent. The preloaded library and the command that reads the file share the layout; both are of
// one build.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "interpose/launch_record.h"

namespace redzone::interpose {

inline constexpr std::uint64_t kRecordMagic = 0x31647261'75677a72;  // "rzguard1"

// Counters of a process. Those from kFirstLeftOut on count allocations that are not guarded, by
// reason.
enum class Counter : std::uint8_t {
  device_blocks,      // allocations of the driver that were guarded
  device_frees,       // frees of guarded device blocks
  slots_mapped,       // slots that were created
  slots_reused,       // blocks that took the slot of a freed one
  slots_retired,      // slots that were unmapped when their block was freed
  canaries_checked,   // live and freed blocks whose canaries were compared
  frees_deferred,     // frees that were deferred while a stream captured
  launches,           // launches of kernels and graphs
  launches_unnamed,   // launches of kernels that the settings do not select
  streams_held,       // holds of streams before a launch
  faults_survived,    // accesses of the CPU after which memory replaced a guard page
  export_tables,      // cuGetExportTable: calls through its tables are not seen
  next_lookups,       // dlsym(RTLD_NEXT) of a replaced name: calls through it are not seen
  newer_versions,     // functions in a version that the guard does not support
  deep_binds,         // libraries opened with RTLD_DEEPBIND, which find other definitions
  namespaces,         // libraries opened in another namespace by dlmopen
  ipc_refused,        // IPC handles that the driver refused for guarded memory
  host_blocks,        // allocations of malloc() that were guarded
  host_frees,         // frees of guarded malloc() blocks
  host_unpoisoned,    // guarded blocks of the CPU that were too large to poison
  findings_dropped,   // findings for which the file has no room
  lines_dropped,      // Python lines for which the file has no room
  left_out_capture,   // allocated while a stream captured, or as part of a graph
  left_out_no_vmm,    // the device has no virtual memory management
  left_out_memory,    // no memory for a slot
  left_out_refused,   // the driver refused a call that a slot needs
  left_out_managed,   // cuMemAllocManaged
  left_out_pool,      // from a pool on another device or the host, or a pool that can be exported
  left_out_pinned,    // cuMemHostAlloc, cuMemAllocHost
  left_out_mapped,    // cuMemCreate: the program maps memory itself
  left_out_shared,    // guarded by canaries only: it shares a slot with other small blocks
  left_out_mappings,  // host blocks: the system allows no more mappings
  left_out_chosen,    // the settings exclude the block
  count
};
inline constexpr Counter kFirstLeftOut = Counter::left_out_capture;
inline constexpr std::size_t kCounters = static_cast<std::size_t>(Counter::count);

// Flags of a process.
enum class Fact : std::uint8_t {
  loaded,           // the library has started
  cpu_proven,       // an allocation of the guard by malloc() passed through the guard
  driver_seen,      // the process looked up, or called, a function of the driver
  driver_proven,    // an allocation of the guard by each way to the driver passed through the guard
  driver_unproven,  // such an allocation did not
  driver_broken,    // the context has an error that every later call returns
  ended,            // the process ended by exit(), quick_exit() or _exit()
  driver_present,   // libcuda.so.1 was loaded when the process ended
  // PyTorch's CUDA library was loaded before the first allocation of the driver, or at the end
  torch_present,
  torch_replaced,  // PyTorch has allocated through the guard (library/torch_allocator.cpp)
  cupy_replaced,   // CuPy allocates without its pool
  count
};
inline constexpr std::size_t kFacts = static_cast<std::size_t>(Fact::count);

enum class FindingKind : std::uint32_t {
  guard_page,    // an access hit a guard page
  after_free,    // an access hit memory that was freed and unmapped
  canary,        // bytes beside a block were overwritten
  bad_free,      // a free of an address inside a guarded block, or of a freed block
  device_error,  // a driver call returned the error of an earlier access
  range,         // a copy or memset of the driver exceeds its block
};
enum class Access : std::uint32_t { unknown, read, write, execute };
enum class Side : std::uint32_t { none, before, after, inside };

inline constexpr std::size_t kFrames = 24;
inline constexpr std::size_t kPythonFrames = 16;

struct Frames {
  std::uint32_t count = 0, python_count = 0;
  std::uint64_t addresses[kFrames] = {};  // innermost first
  // The Python lines of the thread, innermost first: n refers to Record::python[n - 1].
  std::uint32_t python[kPythonFrames] = {};
};

// A line of a Python program that occurs in a stack.
struct PythonLine {
  std::uint32_t line = 0;
  char function[92] = {};  // truncated at the end
  char file[160] = {};     // truncated at the beginning
};
inline constexpr std::size_t kPythonLines = 8192;
// The last of these are reserved for the program's own lines: places are named by such lines, and a
// large package has thousands of lines.
inline constexpr std::size_t kOwnPythonLines = 2048;

inline constexpr std::size_t kCallBytes = 40;

// State of a slot for a finding.
enum class FindingState : std::uint32_t { free, written, complete };

struct FindingRecord {
  std::atomic<FindingState> state{FindingState::free};
  // Number of later findings of the same place (Recorder::publish()); only their number is kept.
  std::atomic<std::uint64_t> repeats{0};
  // The following members do not change once the finding is complete.
  FindingKind kind = FindingKind::guard_page;
  Access access = Access::unknown;
  Side side = Side::none;
  std::uint32_t on_device = 0;  // 1: memory of the CUDA driver
  std::int32_t code = 0;        // the driver's error for device_error; the signal for guard_page
  std::uint64_t address = 0;    // address of the access, or of the first wrong byte; 0: unknown
  std::uint64_t distance_bytes = 0;  // from the nearest byte of the block; 0 inside
  std::uint64_t wrong_bytes = 0;     // of the canary
  std::uint64_t block_address = 0;
  std::uint64_t block_bytes = 0;
  std::uint64_t block_ordinal = 0;  // 1 for the first block of the process; 0: no block is known
  std::uint32_t block_freed = 0;
  std::uint32_t thread = 0;
  char call[kCallBytes] = {};  // the called function of the driver or the C library
  Frames where, allocated, freed;
  // With a check after each launch: the first launch after which a canary was wrong, and the number
  // of launches since all canaries had been right. 0: there was no such check.
  std::uint64_t launches_since_right = 0;
  LaunchRecord launch;
};

inline constexpr std::size_t kMostFindings = 64;
// The last of these are reserved for device errors, of which each context has at most one: a run
// with --narrow needs them, with the launches that may have caused them.
inline constexpr std::size_t kKeptForErrors = 8;

// The initial value of each member is zero, as in a new file.
struct Record {
  std::uint64_t magic = 0;         // written last
  std::uint32_t layout_bytes = 0;  // sizeof(Record)
  std::uint32_t pid = 0;
  std::uint32_t parent = 0;
  std::uint32_t unused = 0;
  char program[256] = {};  // /proc/self/exe, shortened
  std::atomic<std::uint8_t> facts[kFacts] = {};
  std::atomic<std::uint64_t> counters[kCounters] = {};
  FindingRecord findings[kMostFindings];
  LaunchRecord launches[kLaunchesKept];  // launch n is at n % kLaunchesKept
  // Launches not known to have completed at the first device error, newest first.
  std::atomic<std::uint32_t> unfinished_begun{0}, unfinished_count{0};
  LaunchRecord unfinished[kLaunchesKept];
  // Number of further such launches, of which nothing else is known.
  std::atomic<std::uint64_t> unfinished_lost{0};
  std::atomic<std::uint32_t> python_count{0};
  PythonLine python[kPythonLines];
};

// "<folder>/<pid>.<n>.record": one file for each program that ran in the process. Files with the
// same stem hold the mappings of the process (/proc/self/maps) at its last finding, and its origin
// (origin_file.h).
inline constexpr std::string_view kRecordSuffix = ".record";
inline constexpr std::string_view kMapsSuffix = ".maps";

// A third file holds the device blocks, live and freed, at the first device error: BlockRecords up
// to the end of the file; the last one may be truncated.
struct BlockRecord {
  std::uint64_t address = 0, bytes = 0, ordinal = 0;
  // the mapped memory that contains the block and its canaries
  std::uint64_t region = 0, region_bytes = 0;
  std::uint64_t freed = 0;
  Frames allocated, freed_by;
};
inline constexpr std::string_view kBlocksSuffix = ".blocks";
inline constexpr std::size_t kBlocksSaved = 32 * 1024;

}  // namespace redzone::interpose

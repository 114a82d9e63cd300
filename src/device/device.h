// The interface between the trial runner and a device: cuda/, host/, and dry_run/, which runs no
// kernel.
//
// A worker process has one Device, which one thread at a time uses. The device owns memory and
// streams. After a Failure of kind `fault` the device is lost: only info() and reached() may still
// be called, and the worker must exit with _exit, without destroying the device.
#pragma once

#include <redzone/target.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "core/launch_limits.h"
#include "core/plan.h"
#include "core/trial.h"
#include "device/black_box.h"
#include "device/buffer_job.h"

namespace redzone::device {

struct Failure {
  enum class Kind : std::uint8_t {
    fault,           // the device is lost (a sticky error)
    launch_refused,  // this launch was invalid; the device stays usable
    out_of_memory,
    unsupported,  // this device or build does not support it
    harness,      // a mistake of the harness, or a broken installation
  };
  Kind kind = Kind::harness;
  std::string code;  // "CUDA_ERROR_ILLEGAL_ADDRESS", "invalid-launch", ...
  std::string detail;
  // For a write behind dynamic shared memory that the device detected afterwards: distance of the
  // write from the end of the memory in bytes, where the first byte behind it has distance 1.
  // Otherwise 0.
  std::int64_t bytes_behind_shared = 0;
};

template <class T>
using Status = tl::expected<T, Failure>;

struct Info {
  DeviceKind kind = DeviceKind::host;
  std::string name;            // "NVIDIA H100 80GB HBM3", "host", "dry-run"
  std::string driver;          // "580.159.04" or ""
  int compute_capability = 0;  // 90; 0 on the host
  std::size_t memory_bytes = 0;
  int multiprocessors = 132;             // the default is that of an H100
  std::size_t granularity_bytes = 4096;  // of the guard arena
  LaunchLimits limits;
};

// A mapped range. In the guard arena a guard page lies on each side.
struct Region {
  std::byte* base = nullptr;
  std::size_t bytes = 0;
};

// An allocator of regions. Regions are cached by size: a release followed by an acquire of the same
// size maps nothing.
class Memory {
 public:
  virtual ~Memory() = default;
  // At least `bytes` (> 0). Contents are unspecified.
  virtual Status<Region> acquire(std::size_t bytes) = 0;
  // Work in flight may still use the region; the next trial reuses it in stream order.
  virtual void release(Region region) = 0;
  // Unmaps all cached regions. Requires that nothing is in flight.
  virtual void trim() = 0;
  // Mapping calls (map, protect, allocate) made so far.
  virtual std::uint64_t mapping_calls() const = 0;
};

// An allocator in stream order. acquire() may return released memory while the work that used it is
// still queued: only the order of each stream separates the two owners. Bases are multiples of 256.
// begin_trial() frees all regions, released or not.
class OrderedMemory {
 public:
  virtual ~OrderedMemory() = default;
  // At least `bytes` (> 0) for later work on `stream`. Contents are unspecified.
  virtual Status<Region> acquire(std::size_t bytes, int stream) = 0;
  // Later work on `stream` may reuse the region, which must be as acquire() returned it.
  virtual Status<void> release(Region region, int stream) = 0;
  // Mapping calls made so far, as far as they can be counted.
  virtual std::uint64_t mapping_calls() const = 0;
};

// A buffer of the trial, to which fault reports attribute addresses.
struct NamedRange {
  std::string name;
  std::int32_t call = -1;
  const std::byte* begin = nullptr;  // of the storage, not the region
  const std::byte* end = nullptr;
  Region region = {};  // the memory it was placed in; empty: the storage alone
  // Position of `call` in the order in which the trial's calls run; -1: calls run as numbered.
  std::int32_t position = -1;
};

// Whether an access of `call` (-1: unknown) may refer to `ranges[i]`: the range belongs to no call
// that runs later, and no later element of `ranges` that the access may refer to was placed in the
// same memory. `ranges` must be in the order in which they were named. Safe in a signal handler.
bool may_mean(std::span<const NamedRange> ranges, std::size_t i, std::int32_t call);

// A block of memory that was not allocated by a device, for fault reports.
struct OtherBlock {
  char name[64] = {};
  const std::byte* begin = nullptr;
  const std::byte* end = nullptr;
};
// Finds the block that contains an address, or the nearest one. False if the address does not
// belong to such memory. Called in a signal handler.
using FindOtherBlock = bool (*)(const void* at, OtherBlock& out);

struct TrialSettings {
  Launch launch = Launch::async;
  std::uint64_t schedule_seed = 0;
  int streams = 1;           // at most kDeviceStreams
  PoolPolicy pool = {};      // of ordered_memory(Allocator::pool)
  std::uint32_t poison = 0;  // Mode::poison; determines the contents of uninitialized shared memory
};

// Signals of a trial: see Device::await().
inline constexpr int kOrderSignals = 2;

// The streams of the plan, the side streams of the target, and one of the runner's own.
inline constexpr int kDeviceStreams = static_cast<int>(kMaxStreams) + kMaxSideStreams + 1;

// Findings of a check of the device (Device::check_kernels()).
struct CheckReport {
  std::vector<SanitizerRecord> records;
  std::string problem;  // why the report is incomplete; "" if it is complete
};

class Device {
 public:
  virtual ~Device() = default;
  virtual const Info& info() const = 0;
  // `guard` or `plain`.
  virtual Memory& memory(Allocator allocator) = 0;
  // `pool` or `caching`.
  virtual OrderedMemory& ordered_memory(Allocator allocator) = 0;
  // Pinned: the device reads and writes it, too, at the same addresses.
  virtual Memory& pinned_memory() = 0;

  // Sets the box for progress and fault records from now on; may be null.
  virtual void set_black_box(BlackBox* box) = 0;

  // Starts a trial. All streams must be idle. Destroys the graphs and ends a capture left open.
  virtual Status<void> begin_trial(const TrialSettings& settings) = 0;
  // Sets the names of addresses, until the next call of watch().
  virtual void watch(std::vector<NamedRange> buffers) = 0;
  // Adds names to those of watch().
  virtual void watch_more(std::span<const NamedRange> buffers) = 0;
  // Sets the function that names memory which targets allocate by themselves. Ignored by a device
  // whose faults have no host address.
  virtual void set_other_blocks(FindOtherBlock) {}
  // From now on kernels run under this check (is_check()), if their code was built for it. False if
  // the device has no such check.
  virtual bool check_kernels(SanitizerTool) { return false; }
  // The findings of the check since the last call.
  virtual CheckReport take_check_report() { return {}; }
  // Later enqueues belong to this call index (-1: the harness).
  virtual void set_call(std::int32_t call) = 0;

  virtual void* stream_handle(int stream) = 0;
  // fill, check, launch, wait, mark, copy and memset enqueue in stream order.
  virtual Status<void> fill(int stream, std::span<const BufferJob> jobs) = 0;
  // Call it in a thread other than the one that opened the device, before the thread uses the
  // device: a CUDA context is current per thread. Cheap if the thread was attached before.
  virtual void attach_thread() {}
  // Fills in the order of a stream that the process has created itself, and that hold() does not
  // hold.
  virtual Status<void> fill_foreign(void*, std::span<const BufferJob>) {
    return tl::unexpected(Failure{Failure::Kind::harness, "", "the device has no such stream"});
  }
  // `results[i]` is written by the time synchronize() returns; it must stay alive until then.
  virtual Status<void> check(int stream, std::span<const BufferJob> jobs, BufferCheck* results) = 0;
  virtual Status<void> launch(int stream, const KernelRef& kernel, const LaunchShape& shape,
                              const LaunchArgs& args) = 0;
  virtual Status<void> wait(int stream, int on) = 0;
  // Enqueues a progress marker for reached(), which costs one operation. Numbers start at 1 and
  // grow on each stream within a trial. A device that reports the faulting call itself overrides
  // neither mark() nor reached().
  virtual Status<void> mark(int, std::uint32_t) { return {}; }
  // The last progress marker completed on the stream in this trial, 0 for none.
  virtual std::uint32_t reached(int) const { return 0; }
  // Signals force an order that the program leaves open. await() makes later work on `stream` wait
  // until `signal` (below kOrderSignals) is given; give() gives it once the work enqueued on
  // `stream` so far has run, give_now() at once. Each signal is given at most once in a trial. The
  // device ends an await that would never end. Must not be used on a captured stream. The default
  // implementations do nothing.
  virtual Status<void> await(int, int) { return {}; }
  virtual Status<void> give(int, int) { return {}; }
  virtual void give_now(int) {}
  // Whether each await of this trial that has ended was ended by its signal. Requires that nothing
  // is in flight.
  virtual bool kept_signals() const { return false; }

  // Reads the source when the copy runs and never blocks the caller. Both ends must be device
  // memory or pinned_memory(); anything else is refused ("target-error").
  virtual Status<void> copy(int stream, void* to, const void* from, std::size_t bytes) = 0;
  // Sets the bytes in stream order, with the same restriction as copy().
  virtual Status<void> memset(int stream, void* to, std::uint8_t value, std::size_t bytes) = 0;

  // Graphs, with the semantics of CUDA's stream capture. Between begin_capture() and end_capture()
  // (of the same stream; one capture at a time) launches, copies, memsets and waits on `stream`,
  // and on streams that wait for a captured stream, are recorded and do not run. Other streams
  // continue as usual. Before the end every stream that joined must have been waited for. During a
  // capture fill, check, read, hold and synchronize() are not allowed. Work that cannot be captured
  // is a Failure `unsupported` with the driver's code, which end_capture() reports again. After
  // end_capture() no stream is captured, even if it fails. A graph lives until the next
  // begin_trial().
  virtual Status<void> begin_capture(int stream) = 0;
  virtual Status<int> end_capture(int stream) = 0;
  // Counts as one enqueue for each recorded launch (see hold_capacity()). Two launches of one graph
  // are ordered even on different streams. On a captured stream the graph becomes part of that
  // capture.
  virtual Status<void> launch_graph(int stream, int graph) = 0;

  // Blocked launches: work enqueued between hold() and open() does not run before open().
  // synchronize() calls open().
  virtual Status<void> hold() = 0;
  virtual Status<void> open() = 0;
  // Number of enqueues that a held stream accepts before an enqueue would block.
  virtual std::size_t hold_capacity() const = 0;

  // Waits for all streams.
  virtual Status<void> synchronize() = 0;
  // Copies device to host; synchronous; call it after synchronize().
  virtual Status<void> read(void* to, const void* from, std::size_t bytes) = 0;

  virtual Status<KernelRef> variant(const VariantRequest& request) = 0;

  // Returns the CUresult: 0 with the map written, or 1 if the descriptor is refused, with the map
  // unchanged. Problems of the device rather than of the descriptor are a Failure.
  virtual Status<int> encode(const tma::Descriptor& descriptor, TensorMap& map) = 0;
};

// Opens the host device. Never fails.
std::unique_ptr<Device> open_host_device();

// Opens the device for dry runs, which runs no kernel. Never fails.
std::unique_ptr<Device> open_dry_run_device();

// Opens CUDA device 0 on its primary context. A harness failure if there is no driver or GPU, or if
// this build has no CUDA support.
Status<std::unique_ptr<Device>> open_cuda_device();

// What is present, detected without creating a context; the driver process may call probe_cuda().
struct CudaProbe {
  bool built = false;   // this build has the CUDA side
  bool driver = false;  // libcuda.so.1 loads and cuInit succeeds
  bool device = false;  // at least one GPU
  std::string problem;  // the first thing missing, for people
  std::string name, driver_version;
  int compute_capability = 0;
  std::string nvrtc;  // path or version of NVRTC, empty when missing
};
CudaProbe probe_cuda();

}  // namespace redzone::device

// The seam between the trial runner and a device. Two sides: cuda/ and host/;
// and none/, on which nothing runs.
//
// One Device lives in one worker process and is used from one thread. Memory and streams belong to
// the device. After a Failure of kind `fault` the device is lost: no call but info()
// and reached() may follow, and the worker must leave with _exit, without tearing the device down.
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
#include "device/black_box.h"
#include "device/buffer_job.h"

namespace redzone::device {

struct Failure {
  enum class Kind : std::uint8_t {
    fault,           // sticky: the device is lost
    launch_refused,  // this launch was invalid; the device lives
    out_of_memory,
    unsupported,  // this device or build cannot do it
    harness,      // our own mistake, or a broken installation
  };
  Kind kind = Kind::harness;
  std::string code;  // "CUDA_ERROR_ILLEGAL_ADDRESS", "invalid-launch", ...
  std::string detail;
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

// A mapped range. In the guard arena both neighbours are unmapped.
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
  // Work in flight may still use the region; it is reused in stream order by the next trial.
  virtual void release(Region region) = 0;
  // Unmaps all cached regions. Only with nothing in flight.
  virtual void trim() = 0;
  // Mapping calls (map, protect, allocate) made so far.
  virtual std::uint64_t mapping_calls() const = 0;
};

// An allocator in stream order. What was released may come back from the next acquire(), while the
// work that used it is still queued: each stream, and nothing else, keeps the two owners apart.
// Bases are multiples of 256. All regions are gone at begin_trial(), released or not.
class OrderedMemory {
 public:
  virtual ~OrderedMemory() = default;
  // At least `bytes` (> 0) for what follows on `stream`. Contents are unspecified.
  virtual Status<Region> acquire(std::size_t bytes, int stream) = 0;
  // The region, as acquire() gave it, may be used again by what follows on `stream`.
  virtual Status<void> release(Region region, int stream) = 0;
  // Mapping calls made so far, where they can be seen.
  virtual std::uint64_t mapping_calls() const = 0;
};

// A buffer of the trial, so that a faulting address can be given a name.
struct NamedRange {
  std::string name;
  std::int32_t call = -1;
  const std::byte* begin = nullptr;  // of the storage, not of the region
  const std::byte* end = nullptr;
};

struct TrialSettings {
  Launch launch = Launch::async;
  std::uint64_t schedule_seed = 0;
  int streams = 1;       // at most kDeviceStreams
  PoolPolicy pool = {};  // of ordered_memory(Allocator::pool)
};

// Those of the plan, the side streams of the target, and one of the runner's own.
inline constexpr int kDeviceStreams = static_cast<int>(kMaxStreams) + kMaxSideStreams + 1;

class Device {
 public:
  virtual ~Device() = default;
  virtual const Info& info() const = 0;
  // `guard` or `plain`.
  virtual Memory& memory(Allocator allocator) = 0;
  // `pool` or `caching`.
  virtual OrderedMemory& ordered_memory(Allocator allocator) = 0;
  // Page-locked: the device reads and writes it, too, at the same addresses.
  virtual Memory& pinned_memory() = 0;

  // Marks and fault records go here from now on; may be null.
  virtual void set_black_box(BlackBox* box) = 0;

  // Starts a trial: all streams are idle before it. Drops the graphs, and a capture left open.
  virtual Status<void> begin_trial(const TrialSettings& settings) = 0;
  // Names for addresses, from now to the next call of watch().
  virtual void watch(std::vector<NamedRange> buffers) = 0;
  // Names beside those that there are.
  virtual void watch_more(std::span<const NamedRange> buffers) = 0;
  // Following enqueues belong to this call index (-1: to the harness).
  virtual void set_call(std::int32_t call) = 0;

  virtual void* stream_handle(int stream) = 0;
  // Enqueue, in order with everything else on the stream.
  virtual Status<void> fill(int stream, std::span<const BufferJob> jobs) = 0;
  // `results[i]` is written by the time synchronize() returns; it must stay alive until then.
  virtual Status<void> check(int stream, std::span<const BufferJob> jobs, BufferCheck* results) = 0;
  virtual Status<void> launch(int stream, const KernelRef& kernel, const LaunchShape& shape,
                              const LaunchArgs& args) = 0;
  virtual Status<void> wait(int stream, int on) = 0;
  // Enqueues a mark, which costs one operation, for reached(). Numbers of a stream grow within a
  // trial, from 1. A device that says itself which call a fault belongs to leaves both as they are.
  virtual Status<void> mark(int, std::uint32_t) { return {}; }
  // The last mark that has run on the stream in this trial, 0 for none.
  virtual std::uint32_t reached(int) const { return 0; }
  // Reads the source when it runs, and never makes the caller wait for it: so both ends are device
  // memory or pinned_memory(); anything else is refused ("target-error").
  virtual Status<void> copy(int stream, void* to, const void* from, std::size_t bytes) = 0;

  // Graphs, with the semantics of CUDA's stream capture. Between begin_capture() and end_capture()
  // (of the same stream; one capture at a time) launches and waits on `stream`, and on streams that
  // wait for one that is captured, are recorded and do not run; other streams go on as ever. At the
  // end every stream that joined must have been waited for. Meanwhile no fill, check, read, hold or
  // synchronize(). What cannot be captured is a Failure `unsupported` with the driver's code, and
  // the end then reports it again; the end always leaves the streams uncaptured.
  // A graph lives until the next begin_trial().
  virtual Status<void> begin_capture(int stream) = 0;
  virtual Status<int> end_capture(int stream) = 0;
  // One enqueue for each recorded launch, as hold_capacity() counts. Two launches of one graph are
  // in order whatever their streams. On a captured stream it becomes part of that graph.
  virtual Status<void> launch_graph(int stream, int graph) = 0;

  // gated launches: between hold() and open() nothing that is enqueued runs. synchronize() opens.
  virtual Status<void> hold() = 0;
  virtual Status<void> open() = 0;
  // Enqueues that a held stream takes before it would block.
  virtual std::size_t hold_capacity() const = 0;

  // Waits for all streams.
  virtual Status<void> synchronize() = 0;
  // Device to host; synchronous; after synchronize().
  virtual Status<void> read(void* to, const void* from, std::size_t bytes) = 0;

  virtual Status<KernelRef> variant(const VariantRequest& request) = 0;

  // The CUresult: 0 and the map, or what says that the descriptor is refused (1), and the map as it
  // was. Anything that is about the device and not about the descriptor is a Failure.
  virtual Status<int> encode(const tma::Descriptor& descriptor, TensorMap& map) = 0;
};

// Opens the host device. Never fails.
std::unique_ptr<Device> open_host_device();

// Opens the device that runs nothing. Never fails.
std::unique_ptr<Device> open_none_device();

// Opens CUDA device 0 on its primary context. A harness failure when there is no driver or GPU, or
// when this build has no CUDA side.
Status<std::unique_ptr<Device>> open_cuda_device();

// Looks without creating a context; the driver process may call it.
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

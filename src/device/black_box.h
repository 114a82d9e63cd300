// A page shared between a worker and the driver. It survives the worker: however the worker ends,
// the driver can read which call the worker was in and, on the host device, which access it made.
//
// Written by the worker only, with plain stores (also from a signal handler). Read by the driver
// while the worker runs, for progress, and after its end. Fixed size, no pointers.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace redzone::device {

// Exit status of a worker that the host device ended after it recorded a fault.
inline constexpr int kFaultExit = 86;

// comparing: the device is idle while the CPU runs the target's reference. constructing,
// destroying: the target's constructor or destructor runs.
enum class Phase : std::uint32_t {
  idle,
  starting,
  preparing,
  running,
  checking,
  comparing,
  reporting,
  constructing,
  destroying
};

// FaultRecord::valid is one of the first two, plus kFaultOfHostCode if no thread of a kernel ran.
// kFaultOfAlignment: an access that is not aligned as its instruction requires.
inline constexpr std::uint32_t kFaultOfSignal = 1, kFaultOfAlignment = 2, kFaultOfHostCode = 4;

struct FaultRecord {
  std::uint32_t valid = 0;  // 0: no fault was recorded
  std::int32_t signal = 0;
  std::uint32_t access = 0;  // as redzone::Access
  std::uint32_t side = 0;    // as redzone::Side
  std::int64_t distance_bytes = 0;
  std::uint32_t block[3] = {};
  std::uint32_t thread[3] = {};
  char buffer[64] = {};
};

struct BlackBox {
  Phase phase = Phase::idle;
  // Incremented at each step of a trial: a call, a kernel start, the end of a block on the host
  // device, a compilation. Deadlines count from the last increment, so a long trial is not taken
  // for a hang.
  std::uint64_t progress = 0;
  std::uint64_t job = 0;  // the job and trial that the worker runs
  std::int32_t trial = -1;
  std::int32_t call_begun = -1;     // index of the call enqueued last
  std::int32_t call_ended = -1;     // index of the call whose enqueueing returned last
  std::int32_t call_running = -1;   // host device: the call whose kernel is on the (only) core
  std::int32_t call_compared = -1;  // the call whose reference runs, or ran last
  char kernel[96] = {};             // kernel launched (CUDA) or running (host) last
  FaultRecord fault;
  // Incremented several times a second while a compilation runs in the worker's own process. New
  // fields must be added at the end, because a worker library of an earlier version writes the
  // earlier fields.
  std::uint64_t compiling = 0;
};

// Copies and truncates; always terminates.
template <std::size_t N>
void copy_name(char (&to)[N], std::string_view from) {
  const std::size_t n = from.size() < N - 1 ? from.size() : N - 1;
  std::memcpy(to, from.data(), n);
  to[n] = '\0';
}

}  // namespace redzone::device

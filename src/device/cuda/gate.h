// Blocks streams until the host releases them.
//
// Each held stream waits until a word of mapped host memory reaches a ticket; opening stores the
// ticket. While a gate is closed, a driver call that waits for the device (a free, a synchronous
// copy, the first load of a kernel) would wait forever. Therefore such calls of Redzone run under a
// GatePause, and for such calls of a target a watchdog opens the gate (hold_limit.h). Opening early
// only narrows the window for lifetime bugs; a gate left closed would be a false hang.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "device/cuda/driver_api.h"
#include "device/cuda/hold_limit.h"
#include "device/device.h"

namespace redzone::device::cuda {

// How long the watchdog waits: `fixed` for kLongestHold, `learned` as in HoldLimit.
enum class HoldTime { fixed, learned };

// Members are called by one thread at a time; the watchdog thread is internal.
class Gate {
 public:
  static Status<std::unique_ptr<Gate>> create(const DriverApi& api, HoldTime hold_time);
  ~Gate();  // opens the gate
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  // Holds these streams from now on. Does nothing if already closed.
  Status<void> close(std::span<const CUstream> streams);
  // Never fails and never waits. Does nothing if open.
  void open();
  bool closed() const { return closed_; }
  // Opens the gate when the work enqueued on `stream` so far has run. open() must still be called
  // afterwards. If the gate is open, this applies to the next close() instead.
  Status<void> open_behind(CUstream stream);
  // Whether the watchdog has opened the gate since the last reset().
  bool expired() const { return expired_; }
  // The limit for the next close().
  HoldLimit::Duration hold_limit() const {
    return hold_time_ == HoldTime::learned ? limit_.value() : kLongestHold;
  }
  // Clears expired() and cancels an open_behind() that no close() has used. The gate must be open,
  // and the streams idle.
  void reset();
  // While a stream is captured, a wait on it would become part of the graph: a close() during a
  // capture is deferred until set_capturing(false), which fails as close() does.
  Status<void> set_capturing(bool capturing);
  // The streams of the last close().
  const std::vector<CUstream>& streams() const { return streams_; }

 private:
  Gate(const DriverApi& api, std::uint32_t* word, CUdeviceptr device_word, HoldTime hold_time)
      : api_(api), word_(word), device_word_(device_word), hold_time_(hold_time) {}
  void release(std::uint32_t ticket);
  void watch(const std::stop_token& stop);

  const DriverApi& api_;
  std::uint32_t* word_;  // mapped host memory, read by the device
  CUdeviceptr device_word_;
  std::vector<CUstream> streams_;
  bool closed_ = false;
  bool capturing_ = false;
  bool close_deferred_ = false;  // a close() of streams_ is deferred
  bool opened_ahead_ = false;    // open_behind() was called for the next close()
  std::uint32_t ticket_ = 0;
  std::atomic<bool> expired_ = false;
  const HoldTime hold_time_;
  HoldLimit limit_;
  std::chrono::steady_clock::time_point closed_at_;

  // Shared with the watchdog, which starts at the first close().
  std::mutex mutex_;
  std::condition_variable_any wake_;
  bool armed_ = false;
  std::uint32_t armed_ticket_ = 0;
  std::chrono::steady_clock::time_point deadline_;
  std::jthread watchdog_;
};

// Opens a closed gate for its lifetime, then closes it again for the same streams.
class GatePause {
 public:
  explicit GatePause(Gate& gate) : gate_(gate), paused_(gate.closed()) {
    if (paused_) gate_.open();
  }
  // Ignores an error of close(): it is an error of the context, which the next call reports.
  ~GatePause();
  GatePause(const GatePause&) = delete;
  GatePause& operator=(const GatePause&) = delete;

 private:
  Gate& gate_;
  bool paused_;
};

}  // namespace redzone::device::cuda

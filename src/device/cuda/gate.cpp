#include "device/cuda/gate.h"

#include <atomic>
#include <utility>

#include "device/cuda/cuda_error.h"

namespace redzone::device::cuda {

Status<std::unique_ptr<Gate>> Gate::create(const DriverApi& api, HoldTime hold_time) {
  void* word = nullptr;
  CUresult result = api.host_alloc(&word, sizeof(std::uint32_t),
                                   CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_PORTABLE);
  if (result != CUDA_SUCCESS) return tl::unexpected(failure_of(api, result, "cuMemHostAlloc"));
  CUdeviceptr device_word = 0;
  result = api.host_device_pointer(&device_word, word, 0);
  if (result != CUDA_SUCCESS) {
    api.host_free(word);
    return tl::unexpected(failure_of(api, result, "cuMemHostGetDevicePointer"));
  }
  auto* counter = static_cast<std::uint32_t*>(word);
  *counter = 0;
  return std::unique_ptr<Gate>(new Gate(api, counter, device_word, hold_time));
}

Gate::~Gate() {
  open();
  if (watchdog_.joinable()) {
    watchdog_.request_stop();
    watchdog_.join();
  }
  api_.host_free(word_);  // waits for the streams, which are not held any more
}

Status<void> Gate::close(std::span<const CUstream> streams) {
  if (closed_) return {};
  if (capturing_) {
    streams_.assign(streams.begin(), streams.end());
    close_deferred_ = true;
    return {};
  }
  if (!watchdog_.joinable())
    watchdog_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
  streams_.assign(streams.begin(), streams.end());
  closed_ = true;
  opened_ahead_ = false;
  ++ticket_;
  closed_at_ = std::chrono::steady_clock::now();
  // Armed before the first wait is enqueued, because even that could block on a full queue.
  {
    std::lock_guard lock(mutex_);
    armed_ = true;
    armed_ticket_ = ticket_;
    deadline_ = closed_at_ + hold_limit();
  }
  wake_.notify_one();
  for (CUstream stream : streams_) {
    // GEQ compares cyclically, so tickets may wrap.
    const CUresult result =
        api_.stream_wait_value(stream, device_word_, ticket_, CU_STREAM_WAIT_VALUE_GEQ);
    if (result != CUDA_SUCCESS) {
      open();
      return tl::unexpected(failure_of(api_, result, "cuStreamWaitValue32"));
    }
  }
  return {};
}

Status<void> Gate::open_behind(CUstream stream) {
  opened_ahead_ = !closed_;
  return status_of(api_,
                   api_.stream_write_value(stream, device_word_, closed_ ? ticket_ : ticket_ + 1,
                                           CU_STREAM_WRITE_VALUE_DEFAULT),
                   "cuStreamWriteValue32");
}

void Gate::reset() {
  if (std::exchange(opened_ahead_, false)) ++ticket_;
  expired_ = false;
}

Status<void> Gate::set_capturing(bool capturing) {
  capturing_ = capturing;
  if (capturing || !std::exchange(close_deferred_, false)) return {};
  const std::vector<CUstream> streams = streams_;
  return close(streams);
}

void Gate::open() {
  close_deferred_ = false;
  if (!closed_) return;
  closed_ = false;
  bool in_time = false;
  {
    std::lock_guard lock(mutex_);
    in_time = std::exchange(armed_, false);
  }
  release(ticket_);
  if (in_time)
    limit_.opened_after(std::chrono::steady_clock::now() - closed_at_);
  else
    limit_.ran_out();
}

void Gate::release(std::uint32_t ticket) {
  std::atomic_ref<std::uint32_t>(*word_).store(ticket, std::memory_order_seq_cst);
}

void Gate::watch(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (wake_.wait(lock, stop, [this] { return armed_; })) {
    const std::uint32_t ticket = armed_ticket_;
    // The wait ends early if the gate was opened, even if it was closed again (another ticket), or
    // if it is being destroyed.
    const auto deadline = deadline_;
    const bool moved_on =
        wake_.wait_until(lock, stop, deadline, [&] { return !armed_ || armed_ticket_ != ticket; });
    if (stop.stop_requested()) return;
    if (!moved_on) {
      armed_ = false;
      expired_ = true;
      release(ticket);  // under the lock: open() cannot have moved to a later ticket
    }
  }
}

GatePause::~GatePause() {
  if (!paused_) return;
  const std::vector<CUstream> streams = gate_.streams();
  (void)gate_.close(streams);
}

}  // namespace redzone::device::cuda

#include "device/cuda/signs_of_life.h"

#include <atomic>
#include <chrono>

namespace redzone::device::cuda {
namespace {

// The driver checks eight times per deadline, and the shortest deadline is 750 ms.
constexpr std::chrono::milliseconds kInterval{20};

}  // namespace

SignsOfLife::SignsOfLife(BlackBox* box) {
  if (box != nullptr) thread_ = std::thread([this, box] { show(*box); });
}

SignsOfLife::~SignsOfLife() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  over_.notify_one();
  thread_.join();
}

void SignsOfLife::show(BlackBox& box) {
  std::unique_lock lock(mutex_);
  const std::atomic_ref progress(box.progress);
  while (!over_.wait_for(lock, kInterval, [this] { return is_over_; }))
    progress.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace redzone::device::cuda

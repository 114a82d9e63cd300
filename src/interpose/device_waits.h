// Limits of DeviceMemory's waits for the device, and the wait without its mutex.
#pragma once

#include "interpose/current_context.h"
#include "interpose/device_memory.h"

namespace redzone::interpose {

inline constexpr int kSettleMs = 2000;
// Limit of the wait of a free.
inline constexpr int kFreeWaitMs = 2000;
// Pauses between two polls; they double from the first to the longest.
inline constexpr unsigned kFirstPauseUs = 8, kLongestPauseUs = 1000;

template <class Wait>
int DeviceMemory::without_lock(Lock& lock, CuContext context, Wait wait) {
  const std::uint64_t id = contexts_.at(context).id;
  ++waits_;
  lock.unlock();
  const int result = wait();
  lock.lock();
  if (--waits_ == 0) no_waits_.notify_all();
  const auto now = contexts_.find(context);
  return now == contexts_.end() || now->second.id != id ? int{kCuInvalidContext} : result;
}

}  // namespace redzone::interpose

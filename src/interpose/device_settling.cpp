// Compares the canaries of all blocks once more, at the end of a process or of a context.
#include <unistd.h>

#include <algorithm>

#include "interpose/device_memory.h"
#include "interpose/device_waits.h"

namespace redzone::interpose {
namespace {

// Reported as the call that returned an error which no call of the program returned.
constexpr const char* kLastCall = "the guard's check at exit";
constexpr std::size_t kLiveBatch = 256;

}  // namespace

bool DeviceMemory::awaits_device() const {
  return std::any_of(pending_.begin(), pending_.end(), [&](const auto& of_stream) {
    return !is_broken(of_stream.second.front().block.region.context);
  });
}

int DeviceMemory::compare_batch(Lock& lock, CuContext context, CuAddress& next,
                                std::uint64_t launch) {
  const CurrentContext current(driver_, context);
  if (per_context(context) == nullptr) return kCuInvalidContext;
  if (const int failed = order_after_all(lock, context)) return failed;
  if (holds_back()) return kCuNotReady;
  PerContext* state = &contexts_.at(context);
  int failed = kCuSuccess;
  auto done = take_event(*state, failed);
  if (!done) return failed;
  Batch batch{context, nullptr, {}};
  std::vector<Block> blocks;  // blocks freed during the wait are compared by their free
  for (auto it = live_.lower_bound(next); it != live_.end() && failed == kCuSuccess; ++it) {
    if (blocks.size() == kLiveBatch) break;
    next = it->first + 1;
    if (it->second.region.context != context) {
      if (is_broken(it->second.region.context)) continue;
      next = it->first;
      break;
    }
    if (it->second.is_reported) continue;
    auto canaries = take_canaries(*state, failed);
    if (!canaries) break;
    batch.canaries.push_back(canaries.keep());
    blocks.push_back(it->second);
    failed = copy_canaries(it->second, state->own, batch.canaries.back());
  }
  // Record the event after a failure, too: without the event the guard never learns when the
  // buffers are free again.
  if (const int unrecorded = driver_.record_event(done.get(), state->own)) return unrecorded;
  batch.done = done.keep();
  if (failed == kCuSuccess) failed = wait_for(lock, context, batch.done, kSettleMs);
  if (failed == kCuInvalidContext) return failed;
  if (failed != kCuSuccess) {
    batches_.push_back(std::move(batch));
    return failed;
  }
  state = &contexts_.at(context);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto now = live_.find(blocks[i].address);
    if (now != live_.end() && now->second.ordinal == blocks[i].ordinal)
      now->second.is_reported = !compare(now->second, batch.canaries[i], launch);
  }
  state->events.push_back(batch.done);
  state->canaries.insert(state->canaries.end(), batch.canaries.begin(), batch.canaries.end());
  return kCuSuccess;
}

bool DeviceMemory::compare_live(Lock& lock, const char* call, std::uint64_t launch) {
  CuAddress next = 0;
  for (auto it = live_.begin(); it != live_.end(); it = live_.lower_bound(next)) {
    const CuContext context = it->second.region.context;
    next = it->first;
    if (is_broken(context)) {
      ++next;
      continue;
    }
    const int failed = compare_batch(lock, context, next, launch);
    report_error(context, failed, call);
    if (failed != kCuSuccess && !is_sticky(failed)) return false;
  }
  return true;
}

void DeviceMemory::settle() {
  Lock lock(mutex_);
  for (int waited_ms = 0; waited_ms < kSettleMs; ++waited_ms) {
    if (abandoned_ || holds_back()) return;
    const std::size_t before = pending_blocks();
    poll(kLastCall);
    if (!awaits_device()) break;
    if (pending_blocks() != before) continue;
    lock.unlock();
    ::usleep(1000);
    lock.lock();
  }
  // Skip the check if the device is still busy.
  if (holds_back() || awaits_device()) return;
  compare_live(lock, kLastCall, 0);
  if (!holds_back()) compare_sinks(lock, kLastCall, 0);
}

}  // namespace redzone::interpose

// Contexts, streams and pools of DeviceMemory: captures, waits, and destruction.
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "interpose/device_memory.h"
#include "interpose/device_waits.h"

namespace redzone::interpose {
namespace {

bool is_default(CuStream stream) {
  return stream == nullptr || stream == kLegacyStream || stream == kThreadStream;
}

}  // namespace

CuContext DeviceMemory::context_of(CuStream stream, CuContext current) const {
  CuContext out = nullptr;
  if (is_default(stream) || driver_.get_stream_context == nullptr ||
      driver_.get_stream_context(stream, &out) != kCuSuccess || out == nullptr)
    return current;
  return out;
}

bool DeviceMemory::on_one_device(CuContext first, CuContext second) const {
  if (first == second) return true;
  CuDevice devices[2] = {};
  for (const int i : {0, 1}) {
    const CurrentContext current(driver_, i == 0 ? first : second);
    if (driver_.get_device(&devices[i]) != kCuSuccess) return false;
  }
  return devices[0] == devices[1];
}

DeviceMemory::StreamKey DeviceMemory::key_of(CuStream stream, CuContext context) {
  return {stream, is_default(stream) ? context : nullptr, stream == kThreadStream ? ::gettid() : 0};
}

DeviceMemory::StreamKey DeviceMemory::capture_key(CuStream stream, CuContext& context) const {
  driver_.get_context(&context);
  return key_of(stream, context);
}

bool DeviceMemory::capture_begins(CuStream stream) {
  Lock lock(mutex_);
  // A wait for the device would invalidate the capture. This wait is bounded, because the device
  // may be waiting for this thread.
  no_waits_.wait_for(lock, std::chrono::milliseconds(kSettleMs), [&] { return waits_ == 0; });
  CuContext context = nullptr;
  const StreamKey key = capture_key(stream, context);
  if (captures_.count(key) != 0) return false;
  captures_[key] = context_of(stream, context);
  return true;
}

void DeviceMemory::capture_over(CuStream stream) {
  Lock lock(mutex_);
  CuContext context = nullptr;
  if (captures_.erase(capture_key(stream, context)) != 0) retire_deferred(lock);
}

bool DeviceMemory::capture_dies(CuStream stream) {
  const Lock lock(mutex_);
  CuContext context = nullptr;
  // Erase the entry now, because another stream may reuse the handle as soon as this stream is
  // destroyed.
  if (captures_.erase(capture_key(stream, context)) == 0) return false;
  ++dying_captures_;
  return true;
}

void DeviceMemory::capture_died() {
  Lock lock(mutex_);
  --dying_captures_;
  retire_deferred(lock);
}

bool DeviceMemory::capturing() const {
  const Lock lock(mutex_);
  return holds_back();
}

bool DeviceMemory::captures(CuStream stream) const {
  int status = 0;
  // For the legacy stream the driver returns an error while another stream captures.
  return capturing() && driver_.is_capturing != nullptr &&
         driver_.is_capturing(stream, &status) == kCuSuccess && status != 0;
}

void DeviceMemory::retire_deferred(Lock& lock) {
  while (!deferred_.empty() && !holds_back()) {
    const Block block = deferred_.front();
    deferred_.pop_front();
    const CuContext context = block.region.context;
    if (is_broken(context)) continue;
    // The stream in whose order the block was freed may have been destroyed; retire the block after
    // all work of its context instead.
    report_error(context, retire(lock, block, std::nullopt, context), "cuStreamEndCapture");
  }
}

DeviceMemory::PerContext* DeviceMemory::per_context(CuContext context) {
  const auto known = contexts_.find(context);
  if (known != contexts_.end()) return &known->second;
  PerContext made;
  made.id = ++context_ids_;
  if (driver_.create_stream(&made.own, kCuStreamNonBlocking) != kCuSuccess ||
      driver_.create_stream(&made.painting, kCuStreamNonBlocking) != kCuSuccess)
    return nullptr;
  return &contexts_.emplace(context, std::move(made)).first->second;
}

int DeviceMemory::wait_for(Lock& lock, CuContext context, CuEvent event, int most_ms) {
  const auto most_us = static_cast<unsigned>(most_ms) * 1000;
  unsigned pause_us = kFirstPauseUs;
  for (unsigned waited_us = 0;; waited_us += pause_us) {
    if (holds_back()) return kCuNotReady;
    const int result = driver_.query_event(event);
    if (result != kCuNotReady || waited_us >= most_us) return result;
    const std::uint64_t id = contexts_.at(context).id;
    lock.unlock();
    pause_us = std::min(2 * pause_us, kLongestPauseUs);
    ::usleep(pause_us);
    lock.lock();
    const auto now = contexts_.find(context);
    if (now == contexts_.end() || now->second.id != id) return kCuInvalidContext;
  }
}

void DeviceMemory::pool_created(CuPool pool, const CuPoolProps& properties) {
  const Lock lock(mutex_);
  if (properties.location.type == kCuLocationDevice && properties.handle_types == 0)
    pools_[pool] = properties.location.id;
}

void DeviceMemory::pool_destroyed(CuPool pool) {
  const Lock lock(mutex_);
  pools_.erase(pool);
}

bool DeviceMemory::guards_pool(CuPool pool, CuStream stream) const {
  const Lock lock(mutex_);
  CuContext context = nullptr;
  CuDevice device = 0;
  // The driver may refuse queries about a capturing stream. No new memory is guarded during a
  // capture.
  if (holds_back()) return true;
  if (driver_.get_context(&context) != kCuSuccess) return false;
  const CurrentContext current(driver_, context_of(stream, context));
  if (driver_.get_device(&device) != kCuSuccess) return false;
  if (const auto known = pools_.find(pool); known != pools_.end()) return known->second == device;
  CuPool own = nullptr;
  return driver_.get_default_pool != nullptr &&
         driver_.get_default_pool(&own, device) == kCuSuccess && own == pool;
}

void DeviceMemory::primary_retained(CuDevice device) {
  const Lock lock(mutex_);
  ++retained_[device];
}

bool DeviceMemory::primary_releases(CuDevice device) {
  const Lock lock(mutex_);
  int& times = retained_[device];
  if (times > 0) --times;
  return times == 0;
}

void DeviceMemory::forget(const Region& region) {
  if (!region.shared) unmap(region.slot, false);
}

void DeviceMemory::context_gone(CuContext context) {
  Lock lock(mutex_);
  const auto forget_its = [&](const Region& region) {
    if (region.context != context) return false;
    forget(region);
    return true;
  };
  std::erase_if(live_, [&](const auto& one) { return forget_its(one.second.region); });
  for (auto& [stream, blocks] : pending_)
    std::erase_if(blocks, [&](const Pending& one) { return forget_its(one.block.region); });
  std::erase_if(pending_, [](const auto& one) { return one.second.empty(); });
  std::erase_if(deferred_, [&](const Block& block) { return forget_its(block.region); });
  std::erase_if(batches_, [&](const Batch& batch) { return batch.context == context; });
  std::erase_if(spare_, [&](const auto& one) {
    if (std::get<0>(one.first) != context) return false;
    for (const Region& region : one.second) forget(region);
    return true;
  });
  forget_sinks(context);
  if (const auto state = contexts_.find(context); state != contexts_.end()) {
    for (const Slot& slot : state->second.shared_slots) unmap(slot, false);
    contexts_.erase(state);
  }
  errors_.erase(context);
  std::erase_if(captures_, [&](const auto& one) { return one.second == context; });
  retire_deferred(lock);
}

}  // namespace redzone::interpose

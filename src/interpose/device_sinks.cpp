// Sinks (`--on-error continue`): one piece of a device's memory, mapped in place of the guard pages
// of all slots. Out-of-bounds writes go to the sink, and the program continues. A sink shows that a
// write happened and its distance from a block, but not which block. Reads are not detected.
#include <algorithm>

#include "interpose/device_layout.h"
#include "interpose/device_memory.h"
#include "interpose/device_waits.h"

namespace redzone::interpose {

int DeviceMemory::map_at(CuAddress at, std::size_t bytes, CuMemoryHandle handle, CuDevice device) {
  if (const int failed = driver_.map(at, bytes, 0, handle, 0)) return failed;
  const CuMemAccessDesc access{{kCuLocationDevice, device}, kCuAccessReadWrite};
  const int failed = driver_.set_access(at, bytes, &access, 1);
  if (failed != kCuSuccess) driver_.unmap(at, bytes);
  return failed;
}

int DeviceMemory::paint_sink(Lock& lock, const Sink& sink) {
  const CuStream stream = contexts_.at(sink.context).painting;
  if (const int failed = driver_.set_bytes(sink.at, kCanaryByte, sink.bytes, stream)) return failed;
  return without_lock(lock, sink.context, [&] { return driver_.synchronize_stream(stream); });
}

// Creates the sink of a device once. Without a sink, slots have guard pages as usual; the next slot
// tries again.
void DeviceMemory::make_sink(Lock& lock, CuContext context, CuDevice device) {
  if (settings_.on_error != OnError::go_on || sinks_.count(device) != 0) return;
  Sink sink;
  sink.context = context;
  sink.bytes = per_device(device).granularity;
  if (build_sink(lock, sink, device) == kCuSuccess) {
    sinks_[device] = sink;
    return;
  }
  drop_sink(sink);
  if (sink.host != nullptr && driver_.free_pinned != nullptr) driver_.free_pinned(sink.host);
}

int DeviceMemory::build_sink(Lock& lock, Sink& sink, CuDevice device) {
  CuMemAllocationProp properties;
  properties.type = kCuAllocationPinned;
  properties.location = {kCuLocationDevice, device};
  void* host = nullptr;
  if (const int failed = driver_.allocate_pinned(&host, sink.bytes, 0)) return failed;
  sink.host = static_cast<unsigned char*>(host);
  if (const int failed = driver_.create(&sink.handle, sink.bytes, &properties, 0)) return failed;
  if (const int failed = driver_.reserve(&sink.at, sink.bytes, sink.bytes, 0, 0)) return failed;
  if (const int failed = map_at(sink.at, sink.bytes, sink.handle, device)) return failed;
  sink.is_mapped = true;
  return paint_sink(lock, sink);
}

// Releases the parts that were built, except pinned memory, which the driver frees with the
// context.
void DeviceMemory::drop_sink(const Sink& sink) {
  if (sink.is_mapped) driver_.unmap(sink.at, sink.bytes);
  if (sink.handle != 0) driver_.release(sink.handle);
  if (sink.at != 0) driver_.free_reservation(sink.at, sink.bytes);
}

void DeviceMemory::map_sinks(Slot& slot) {
  const auto known = sinks_.find(slot.device);
  if (known == sinks_.end()) return;
  const Sink& sink = known->second;
  if (map_at(slot.reservation, sink.bytes, sink.handle, slot.device) != kCuSuccess) return;
  if (map_at(slot.base + slot.bytes, sink.bytes, sink.handle, slot.device) == kCuSuccess)
    slot.sink_bytes = sink.bytes;
  else
    driver_.unmap(slot.reservation, sink.bytes);
}

void DeviceMemory::unmap_sinks(const Slot& slot) {
  if (slot.sink_bytes == 0) return;
  driver_.unmap(slot.reservation, slot.sink_bytes);
  driver_.unmap(slot.base + slot.bytes, slot.sink_bytes);
}

void DeviceMemory::forget_sinks(CuContext context) {
  std::erase_if(sinks_, [&](const auto& one) {
    const Sink& sink = one.second;
    if (sink.context != context) return false;
    drop_sink(sink);
    return true;
  });
}

void DeviceMemory::report_sink(const Sink& sink, std::uint64_t launch) {
  const auto is_wrong = [](unsigned char byte) { return byte != kCanaryByte; };
  const unsigned char *const begin = sink.host, *const end = begin + sink.bytes;
  const auto* const first = std::find_if(begin, end, is_wrong);
  if (first == end) return;
  FindingRecord* const finding = recorder_.begin_finding(FindingKind::canary);
  if (finding == nullptr) return;
  // A write after a block hits the beginning of the sink; a write before a block hits its end.
  const bool after = first - begin < static_cast<std::ptrdiff_t>(sink.bytes / 2);
  const auto* last = end - 1;
  while (!is_wrong(*last)) --last;
  finding->access = Access::write;
  finding->side = after ? Side::after : Side::before;
  finding->on_device = 1;
  finding->distance_bytes = static_cast<std::uint64_t>(after ? first - begin + 1 : end - last);
  finding->wrong_bytes = static_cast<std::uint64_t>(std::count_if(begin, end, is_wrong));
  name_launch(*finding, launch);
  recorder_.publish(*finding);
}

int DeviceMemory::compare_sink(Lock& lock, CuDevice device, std::uint64_t launch) {
  const Sink sink = sinks_.at(device);
  const CurrentContext current(driver_, sink.context);
  if (const int failed = order_after_all(lock, sink.context)) return failed;
  if (holds_back()) return kCuNotReady;
  PerContext& state = contexts_.at(sink.context);
  int failed = kCuSuccess;
  auto done = take_event(state, failed);
  if (!done) return failed;
  failed = driver_.copy_to_host(sink.host, sink.at, sink.bytes, state.own);
  if (const int unrecorded = driver_.record_event(done.get(), state.own)) return unrecorded;
  const CuEvent event = done.keep();
  if (failed == kCuSuccess) failed = wait_for(lock, sink.context, event, kSettleMs);
  if (failed == kCuInvalidContext) return failed;
  contexts_.at(sink.context).events.push_back(event);
  if (failed != kCuSuccess) return failed;
  report_sink(sink, launch);
  return paint_sink(lock, sink);
}

bool DeviceMemory::compare_sinks(Lock& lock, const char* call, std::uint64_t launch) {
  std::vector<CuDevice> devices;
  for (const auto& [device, sink] : sinks_)
    if (!is_broken(sink.context)) devices.push_back(device);
  bool all = true;
  for (const CuDevice device : devices) {
    const auto known = sinks_.find(device);
    if (known == sinks_.end()) continue;  // its context was destroyed during a wait
    const CuContext context = known->second.context;
    const int failed = compare_sink(lock, device, launch);
    report_error(context, failed, call);
    all = all && (failed == kCuSuccess || is_sticky(failed));
  }
  return all;
}

}  // namespace redzone::interpose

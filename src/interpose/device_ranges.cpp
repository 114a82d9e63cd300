// Compares the ranges that the driver's copies and memsets access with the blocks.
#include <algorithm>
#include <cstring>
#include <utility>

#include "interpose/backtrace.h"
#include "interpose/device_memory.h"
#include "interpose/python_stack.h"

namespace redzone::interpose {

void DeviceMemory::report_range(Block& block, const Range& range, Side side,
                                std::uint64_t distance_bytes) {
  if (std::exchange(block.is_range_reported, true)) return;
  // The damage to the canaries is attributed to this call now.
  if (range.access == Access::write) block.is_reported = true;
  FindingRecord* const finding =
      recorder_.begin_finding(block.is_freed ? FindingKind::after_free : FindingKind::range);
  if (finding == nullptr) return;
  finding->access = range.access;
  finding->side = side;
  finding->on_device = 1;
  finding->address = side == Side::after && range.at < block.address + block.bytes
                         ? block.address + block.bytes
                         : range.at;
  finding->distance_bytes = distance_bytes;
  finding->block_address = block.address;
  finding->block_bytes = block.bytes;
  finding->block_ordinal = block.ordinal;
  finding->block_freed = block.is_freed ? 1 : 0;
  std::strncpy(finding->call, range.call, kCallBytes - 1);
  take_backtrace(finding->where);
  take_python_stack(recorder_, finding->where);
  finding->allocated = block.allocated;
  finding->freed = block.freed;
  recorder_.publish(*finding);
}

void DeviceMemory::check_range(const Range& range) {
  if (range.bytes == 0) return;
  const std::lock_guard lock(mutex_);
  if (abandoned_) return;
  const CuAddress end = range.at + std::min<CuAddress>(range.bytes, ~CuAddress{0} - range.at);
  const auto next = live_.upper_bound(range.at);
  if (next != live_.begin()) {
    Block& block = std::prev(next)->second;
    const CuAddress block_end = block.address + block.bytes;
    const bool near_it = range.at < block_end || range.at < block.region.base + block.region.bytes;
    if (near_it && end > block_end) {
      const CuAddress first = std::max(range.at, block_end);
      return report_range(block, range, Side::after, first - block_end + 1);
    }
    if (near_it) return;
  }
  if (next != live_.end() && range.at >= next->second.region.base)
    return report_range(next->second, range, Side::before, next->second.address - range.at);
  const auto behind = freed_.upper_bound(range.at);
  if (behind == freed_.begin()) return;
  Block& freed = std::prev(behind)->second;
  if (range.at < freed.address + freed.bytes) report_range(freed, range, Side::inside, 0);
}

}  // namespace redzone::interpose

#include "interpose/device_memory.h"

#include <algorithm>
#include <cstring>

#include "interpose/backtrace.h"
#include "interpose/device_layout.h"
#include "interpose/device_waits.h"
#include "interpose/python_stack.h"

namespace redzone::interpose {
namespace {

// One call of the program queries the events of at most this many freed blocks.
constexpr std::size_t kPolled = 8;

}  // namespace

DeviceMemory::DeviceMemory(const Driver& driver, const Settings& settings, Recorder& recorder,
                           LaunchLog& launches)
    : driver_(driver), settings_(settings), recorder_(recorder), launches_(launches) {}

std::optional<CuAddress> DeviceMemory::refuse(Counter reason) {
  recorder_.count(reason);
  return std::nullopt;
}

CuAddress DeviceMemory::place(const Region& region, std::size_t bytes) const {
  const CuAddress align = settings_.align_bytes != 0 ? settings_.align_bytes : kDeviceAlignBytes;
  const CuAddress margin = region.shared ? kZoneBytes : 0;
  if (settings_.placement == Placement::guard_before)
    return (region.base + margin + align - 1) / align * align;
  return (region.base + region.bytes - margin - bytes) / align * align;
}

int DeviceMemory::paint(Region& region, CuAddress at, std::size_t bytes, CuStream stream) {
  region.painted_at = 0;
  const Block block{region, at, bytes, 0, false, false, {}, {}};
  for (const Zone zone : {zone_before(block), zone_after(block)})
    if (zone.bytes != 0)
      if (const int failed = driver_.set_bytes(zone.at, kCanaryByte, zone.bytes, stream))
        return failed;
  if (settings_.poison >= 0)
    if (const int failed =
            driver_.set_bytes(at, static_cast<unsigned char>(settings_.poison), bytes, stream))
      return failed;
  region.painted_at = at;
  region.painted_bytes = bytes;
  return kCuSuccess;
}

// Without a stream the block is valid for all streams at once, so wait for its poison. New memory
// has no dependencies, so the wait is for the memsets alone, regardless of other work on the
// device.
int DeviceMemory::paint_for_all(Lock& lock, Region& region, CuAddress at, std::size_t bytes) {
  const CuStream stream = contexts_.at(region.context).painting;
  const int failed = paint(region, at, bytes, stream);
  if (failed != kCuSuccess || (settings_.bare && settings_.poison < 0)) return failed;
  return without_lock(lock, region.context, [&] { return driver_.synchronize_stream(stream); });
}

std::optional<std::uint64_t> DeviceMemory::next_ordinal() {
  const std::uint64_t ordinal = ++ordinal_;
  if (!in_program_ || settings_.guards(ordinal)) return ordinal;
  recorder_.count(Counter::left_out_chosen);
  return std::nullopt;
}

CuAddress DeviceMemory::give_out(const Region& region, CuAddress at, std::size_t bytes,
                                 std::uint64_t ordinal, const Frames& from) {
  live_[at] = {region, at, bytes, ordinal, false, false, from, {}};
  freed_.erase(at);
  recorder_.count(Counter::device_blocks);
  if (region.shared) recorder_.count(Counter::left_out_shared);
  return at;
}

// While a stream captures: takes only a spare region that is painted already for this size.
std::optional<CuAddress> DeviceMemory::allocate_ready(std::size_t bytes, CuContext context,
                                                      const Frames& from) {
  CuDevice device = 0;
  if (driver_.get_device(&device) != kCuSuccess) return std::nullopt;
  const auto state = devices_.find(device);
  if (state == devices_.end() || !state->second.can_map) return refuse(Counter::left_out_capture);
  const auto ordinal = next_ordinal();
  if (!ordinal) return std::nullopt;
  const auto region =
      spare_region({context, region_bytes(bytes, state->second), false}, bytes, true);
  if (!region) return refuse(Counter::left_out_capture);
  return give_out(*region, region->painted_at, bytes, *ordinal, from);
}

std::optional<CuAddress> DeviceMemory::allocate(std::size_t bytes, Order order,
                                                const Frames& from) {
  Lock lock(mutex_);
  CuContext context = nullptr;
  CuDevice device = 0;
  const char* const call = order ? "cuMemAllocAsync" : "cuMemAlloc";
  // In these cases the driver itself returns the right error.
  if (bytes == 0 || abandoned_ || driver_.get_context(&context) != kCuSuccess ||
      context == nullptr || is_broken(context))
    return std::nullopt;
  if (holds_back()) {
    // On a capturing stream the allocation belongs to the graph. Other allocations may take a
    // region that needs no work.
    return order ? refuse(Counter::left_out_capture) : allocate_ready(bytes, context, from);
  }
  const CuContext of = order ? context_of(*order, context) : context;
  // A block for a stream of a green context belongs to the context that is current at the call:
  // events of a green context do not cover the other streams.
  if (!on_one_device(of, context)) context = of;
  const CurrentContext current(driver_, context);
  if (driver_.get_device(&device) != kCuSuccess) return std::nullopt;
  poll(call, kPolled);
  if (is_broken(context)) return std::nullopt;
  if (!per_device(device).can_map) return refuse(Counter::left_out_no_vmm);
  const PerContext* const state = per_context(context);
  if (state == nullptr) return refuse(Counter::left_out_refused);
  const std::uint64_t id = state->id;
  const auto ordinal = next_ordinal();
  if (!ordinal) return std::nullopt;
  auto region = take_region(lock, bytes, context, device);
  if (!region) return std::nullopt;  // take_region() counted the reason
  int failed = kCuSuccess;
  const CuAddress at = place(*region, bytes);
  const auto is_gone = [&] {
    const auto now = contexts_.find(context);
    return now == contexts_.end() || now->second.id != id;
  };
  const bool painted = region->painted_at == at && region->painted_bytes == bytes;
  if (!painted && !is_gone() && order) {
    const CurrentContext theirs(driver_, of);
    failed = paint(*region, at, bytes, *order);
  } else if (!painted && !is_gone()) {
    failed = paint_for_all(lock, *region, at, bytes);
  }
  if (is_gone()) {
    forget(*region);
    return refuse(Counter::left_out_refused);
  }
  // Leave the slot mapped, because enqueued memsets may still write to it.
  if (failed != kCuSuccess) {
    report_error(context, failed, call);
    return refuse(Counter::left_out_refused);
  }
  return give_out(*region, at, bytes, *ordinal, from);
}

DeviceMemory::FreeResult DeviceMemory::free(CuAddress address, Order order, const char* call,
                                            const Frames& from) {
  Lock lock(mutex_);
  if (abandoned_) return {};
  const auto after = live_.upper_bound(address);
  const auto at = after == live_.begin() ? live_.end() : std::prev(after);
  if (at == live_.end() || address >= at->first + at->second.bytes) {
    const auto freed = freed_.find(address);
    if (freed == freed_.end()) return {};
    return report_bad_free(freed->second, address, true, call, from);
  }
  if (at->first != address) return report_bad_free(at->second, address, false, call, from);
  Block block = at->second;
  live_.erase(at);
  block.is_freed = true;
  block.freed = from;
  recorder_.count(Counter::device_frees);
  bury(block);
  const CuContext context = block.region.context;
  const auto result = [&] {
    const auto error = errors_.find(context);
    return FreeResult{Freed::freed, error == errors_.end() ? int{kCuSuccess} : error->second};
  };
  if (is_broken(context)) return result();
  if (holds_back()) {
    deferred_.push_back(block);
    recorder_.count(Counter::frees_deferred);
    return result();
  }
  poll(call, kPolled);
  if (is_broken(context)) return result();
  CuContext current = nullptr;
  driver_.get_context(&current);
  // A block that cannot be retired stays mapped and is not reused.
  const int failed = retire(lock, block, order, current);
  report_error(context, failed, call);
  if (failed == kCuSuccess && !order) finish_now(lock, address, call);
  return result();
}

DeviceMemory::FreeResult DeviceMemory::report_bad_free(const Block& block, CuAddress address,
                                                       bool freed, const char* call,
                                                       const Frames& from) {
  if (FindingRecord* const finding = recorder_.begin_finding(FindingKind::bad_free)) {
    finding->side = Side::inside;
    finding->on_device = 1;
    finding->address = address;
    finding->distance_bytes = address - block.address;
    finding->block_address = block.address;
    finding->block_bytes = block.bytes;
    finding->block_ordinal = block.ordinal;
    finding->block_freed = freed ? 1 : 0;
    std::strncpy(finding->call, call, kCallBytes - 1);
    finding->where = from;
    finding->allocated = block.allocated;
    finding->freed = block.freed;
    recorder_.publish(*finding);
  }
  return {Freed::wrong, kCuInvalidValue};
}

void DeviceMemory::record_stream(CuAddress address, CuStream stream) {
  const Lock lock(mutex_);
  const auto at = live_.find(address);
  if (at == live_.end()) return;
  auto& users = at->second.users;
  if (std::find(users.begin(), users.end(), stream) == users.end()) users.push_back(stream);
}

void DeviceMemory::retire_passed(const char* call) {
  const Lock lock(mutex_);
  if (!abandoned_ && !holds_back() && !pending_.empty()) poll(call, kPolled);
}

std::optional<DeviceMemory::View> DeviceMemory::find(CuAddress address) const {
  const std::lock_guard lock(mutex_);
  const auto after = live_.upper_bound(address);
  if (abandoned_ || after == live_.begin()) return std::nullopt;
  const Block& block = std::prev(after)->second;
  if (address >= block.address + block.bytes) return std::nullopt;
  return View{block.address, block.bytes, block.region.context, block.ordinal};
}

void DeviceMemory::begin_program() {
  const std::lock_guard lock(mutex_);
  ordinal_ = 0;
  retired_ = 0;
  in_program_ = true;
  for (const Counter own : {Counter::device_blocks, Counter::device_frees, Counter::slots_reused})
    recorder_.reset(own);
}

void DeviceMemory::check_result(int result, const char* call, CuContext context) {
  if (!is_sticky(result)) return;
  const Lock lock(mutex_);
  if (context == nullptr) driver_.get_context(&context);
  report_error(context, result, call);
}

bool DeviceMemory::is_broken() const {
  const Lock lock(mutex_);
  CuContext context = nullptr;
  return !errors_.empty() && driver_.get_context(&context) == kCuSuccess && is_broken(context);
}

void DeviceMemory::report_error(CuContext context, int result, const char* call) {
  if (!is_sticky(result) || !errors_.emplace(context, result).second) return;
  recorder_.note(Fact::driver_broken);
  const bool is_first = launches_.keep_unfinished(
      context, [&](CuAddress word, std::uint64_t blocks, PointerRecord& pointer) {
        return points_to(word, blocks, pointer);
      });
  if (is_first) save_blocks();
  FindingRecord* const finding = recorder_.begin_finding(FindingKind::device_error);
  if (finding == nullptr) return;
  finding->on_device = 1;
  finding->code = result;
  std::strncpy(finding->call, call, kCallBytes - 1);
  take_backtrace(finding->where);
  take_python_stack(recorder_, finding->where);
  recorder_.publish(*finding);
}

}  // namespace redzone::interpose

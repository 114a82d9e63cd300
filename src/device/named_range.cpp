#include "device/device.h"

namespace redzone::device {
namespace {

std::int32_t position_of(const NamedRange& range) {
  return range.position < 0 ? range.call : range.position;
}

// A call without a range counts as if calls ran as numbered.
std::int32_t position_of(std::int32_t call, std::span<const NamedRange> ranges) {
  for (const auto& range : ranges)
    if (range.call == call) return position_of(range);
  return call;
}

const std::byte* begin_of(const NamedRange& range) {
  return range.region.bytes > 0 ? range.region.base : range.begin;
}

const std::byte* end_of(const NamedRange& range) {
  return range.region.bytes > 0 ? range.region.base + range.region.bytes : range.end;
}

bool overlap(const NamedRange& a, const NamedRange& b) {
  return begin_of(a) < end_of(b) && begin_of(b) < end_of(a);
}

}  // namespace

bool may_mean(std::span<const NamedRange> ranges, std::size_t i, std::int32_t call) {
  const std::int32_t position = position_of(call, ranges);
  const auto named = [&](const NamedRange& range) {
    return call < 0 || position_of(range) <= position;
  };
  if (!named(ranges[i])) return false;
  for (std::size_t later = i + 1; later < ranges.size(); ++later)
    if (named(ranges[later]) && overlap(ranges[i], ranges[later])) return false;
  return true;
}

}  // namespace redzone::device

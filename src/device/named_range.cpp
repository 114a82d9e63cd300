#include "device/device.h"

namespace redzone::device {
namespace {

bool named_by(const NamedRange& range, std::int32_t call) {
  return call < 0 || range.call <= call;
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
  if (!named_by(ranges[i], call)) return false;
  for (std::size_t later = i + 1; later < ranges.size(); ++later)
    if (named_by(ranges[later], call) && overlap(ranges[i], ranges[later])) return false;
  return true;
}

}  // namespace redzone::device

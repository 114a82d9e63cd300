#include "device/host/plain_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>

#include "core/error.h"
#include "core/page.h"
#include "core/round_up.h"

namespace redzone::device {

namespace {

constexpr std::size_t kUnitBytes = 256;
constexpr std::size_t kReservedBytes = std::size_t{256} << 30;
constexpr std::size_t kStepBytes = std::size_t{64} << 20;  // opened at a time

}  // namespace

PlainMemory::PlainMemory() : RegionCache(kUnitBytes) {
  void* base =
      mmap(nullptr, kReservedBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  RZ_CHECK(base != MAP_FAILED);
  base_ = static_cast<std::byte*>(base);
}

PlainMemory::~PlainMemory() {
  munmap(base_, kReservedBytes);
}

Region PlainMemory::make(std::size_t bytes) {
  count_call();
  if (auto fit = free_.find(bytes); fit != free_.end()) {
    const Region region{fit->second, bytes};
    free_.erase(fit);
    ++regions_;
    return region;
  }
  if (bytes > kReservedBytes - used_) return {};
  if (used_ + bytes > open_) {
    const std::size_t wanted = round_up(used_ + bytes, kStepBytes);
    const std::size_t open = std::min(wanted, kReservedBytes);
    if (mprotect(base_ + kLeadBytes, open - kLeadBytes, PROT_READ | PROT_WRITE) != 0) return {};
    open_ = open;
  }
  const Region region{base_ + used_, bytes};
  used_ += bytes;
  ++regions_;
  return region;
}

void PlainMemory::destroy(Region region) {
  count_call();
  drop_pages(region);
  free_.emplace(region.bytes, region.base);
  if (--regions_ > 0) return;
  free_.clear();
  used_ = kLeadBytes;
}

const std::byte* PlainMemory::end() const {
  return base_ + kReservedBytes;
}

bool PlainMemory::contains(const void* begin, std::size_t bytes) const {
  const auto first = reinterpret_cast<std::uintptr_t>(begin);
  const auto base = reinterpret_cast<std::uintptr_t>(base_);
  return first >= base && first - base <= kReservedBytes &&
         bytes <= kReservedBytes - (first - base);
}

// Keeps pages that are shared with a neighbouring region.
void PlainMemory::drop_pages(Region region) {
  const auto begin = reinterpret_cast<std::uintptr_t>(region.base);
  const std::uintptr_t first = round_up(begin, kPageBytes);
  const std::uintptr_t last = (begin + region.bytes) / kPageBytes * kPageBytes;
  if (first < last) madvise(region.base + (first - begin), last - first, MADV_DONTNEED);
}

}  // namespace redzone::device

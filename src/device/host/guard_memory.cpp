#include "device/host/guard_memory.h"

#include <sys/mman.h>

#include "core/error.h"
#include "core/page.h"

namespace redzone::device {

namespace {

constexpr std::size_t kArenaBytes = std::size_t{16} << 40;       // requested first
constexpr std::size_t kLeastArenaBytes = std::size_t{64} << 30;  // if addresses are limited
// Huge pages would commit 2 MiB for every touched element of a sparse buffer.
constexpr std::size_t kSparseBytes = std::size_t{1} << 30;

}  // namespace

GuardMemory::GuardMemory() : RegionCache(kPageBytes) {
  for (bytes_ = kArenaBytes; bytes_ >= kLeastArenaBytes; bytes_ /= 2) {
    void* base =
        mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) continue;
    base_ = static_cast<std::byte*>(base);
    return;
  }
  RZ_CHECK(!"no address space for the guard arena");
}

GuardMemory::~GuardMemory() {
  munmap(base_, bytes_);
}

// A closed range for `bytes`, followed by a guard range.
std::byte* GuardMemory::place(std::size_t bytes) {
  if (auto fit = free_.lower_bound(bytes); fit != free_.end() && fit->first <= 2 * bytes) {
    std::byte* at = fit->second;
    opened_[at] = fit->first;
    free_.erase(fit);
    return at;
  }
  if (bytes + kHoleBytes > bytes_ - used_) return nullptr;
  std::byte* at = base_ + used_;
  used_ += bytes + kHoleBytes;
  opened_[at] = bytes;
  return at;
}

Region GuardMemory::make(std::size_t bytes) {
  std::byte* at = place(bytes);
  if (at == nullptr) return {};
  count_call();
  if (mprotect(at, bytes, PROT_READ | PROT_WRITE) != 0) {
    free_.emplace(opened_.at(at), at);
    opened_.erase(at);
    return {};
  }
  if (bytes > kSparseBytes) madvise(at, bytes, MADV_NOHUGEPAGE);
  return {at, bytes};
}

void GuardMemory::destroy(Region region) {
  count_call();
  void* closed = mmap(region.base, region.bytes, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  RZ_CHECK(closed == region.base);
  const auto place = opened_.find(region.base);
  free_.emplace(place->second, place->first);
  opened_.erase(place);
}

void GuardMemory::drop_pages(Region region) {
  madvise(region.base, region.bytes, MADV_DONTNEED);
}

}  // namespace redzone::device

#include "device/host/guard_arena.h"

#include <sys/mman.h>

#include "core/error.h"

namespace redzone::device {

namespace {

constexpr std::size_t kArenaBytes = std::size_t{16} << 40;  // requested first
// Larger regions do without huge pages, which would commit 2 MiB for every touched element of a
// sparse buffer.
constexpr std::size_t kSparseBytes = std::size_t{1} << 30;

}  // namespace

GuardArena::GuardArena(std::size_t guard_bytes, std::size_t most_kept_bytes)
    : guard_bytes_(guard_bytes), most_kept_bytes_(most_kept_bytes) {
  for (bytes_ = kArenaBytes; bytes_ >= kLeastBytes; bytes_ /= 2) {
    void* base =
        mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) continue;
    base_ = static_cast<std::byte*>(base);
    return;
  }
  RZ_CHECK(!"no address space for the guard arena");
}

GuardArena::~GuardArena() {
  munmap(base_, bytes_);
}

// A closed range for `bytes`, followed by guard pages; null if addresses are exhausted.
std::byte* GuardArena::place(std::size_t bytes) {
  if (auto fit = free_.lower_bound(bytes); fit != free_.end() && fit->first <= 2 * bytes) {
    std::byte* at = fit->second;
    taken_[at] = fit->first;
    free_.erase(fit);
    return at;
  }
  if (bytes > bytes_ || bytes + guard_bytes_ > bytes_ - used_) return nullptr;
  std::byte* at = base_ + used_;
  used_ += bytes + guard_bytes_;
  taken_[at] = bytes;
  return at;
}

Region GuardArena::open(std::size_t bytes) {
  std::byte* at = place(bytes);
  if (at == nullptr) return {};
  if (mprotect(at, bytes, PROT_READ | PROT_WRITE) != 0) {
    recycle({at, bytes});
    return {};
  }
  if (bytes > kSparseBytes) madvise(at, bytes, MADV_NOHUGEPAGE);
  if (const auto kept = kept_.find(at); kept != kept_.end()) {
    if (kept->second > bytes) madvise(at + bytes, kept->second - bytes, MADV_DONTNEED);
    kept_bytes_ -= kept->second;
    kept_.erase(kept);
  }
  return {at, bytes};
}

void GuardArena::close(Region region) {
  if (region.bytes <= most_kept_bytes_ - kept_bytes_ &&
      mprotect(region.base, region.bytes, PROT_NONE) == 0) {
    kept_[region.base] = region.bytes;
    kept_bytes_ += region.bytes;
    return;
  }
  void* closed = mmap(region.base, region.bytes, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  RZ_CHECK(closed == region.base);
}

void GuardArena::recycle(Region region) {
  const auto place = taken_.find(region.base);
  RZ_CHECK(place != taken_.end());
  free_.emplace(place->second, place->first);
  taken_.erase(place);
}

}  // namespace redzone::device

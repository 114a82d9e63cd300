// The guard arena: one large range of inaccessible addresses, in which regions are opened. Guard
// pages before and after each region stay inaccessible. An access past a buffer therefore faults.
// It is attributed to the buffer if it misses by up to half of the guard pages, and is
// distinguishable from a wild pointer.
//
// Pages are committed when they are touched: a region of several GiB costs only the used part.
#pragma once

#include <map>
#include <unordered_map>

#include "device/device.h"

namespace redzone::device {

class GuardArena {
 public:
  // Minimum size of the address range (not of memory). If a process cannot have it, there is no
  // arena.
  static constexpr std::size_t kLeastBytes = std::size_t{64} << 30;

  // `guard_bytes`: size of the guard pages between two regions, a multiple of the page size. Closed
  // regions keep their pages up to a total of `most_kept_bytes`, because committing pages again
  // takes much longer than opening them.
  explicit GuardArena(std::size_t guard_bytes, std::size_t most_kept_bytes = 0);
  ~GuardArena();
  GuardArena(const GuardArena&) = delete;
  GuardArena& operator=(const GuardArena&) = delete;

  const std::byte* begin() const { return base_; }
  const std::byte* end() const { return base_ + bytes_; }
  bool contains(const void* at) const { return at >= base_ && at <= base_ + bytes_; }

  // `bytes` must be a multiple of the page size. Returns a null base if addresses or mappings are
  // exhausted. The contents are unspecified.
  Region open(std::size_t bytes);
  // Makes an open region inaccessible. Its addresses are not reused before recycle().
  void close(Region region);
  // A later open() may return the addresses of a closed region.
  void recycle(Region region);

 private:
  // Space before the first region: an offset that wrapped in 32 bits goes up to 2^31 elements back,
  // and must not reach other mappings of the process.
  static constexpr std::size_t kLeadBytes = std::size_t{16} << 30;

  std::byte* place(std::size_t bytes);

  std::size_t guard_bytes_, most_kept_bytes_;
  std::byte* base_ = nullptr;
  std::size_t bytes_ = 0;
  std::size_t used_ = kLeadBytes;  // bytes used from `base_` on; the rest was never used
  std::multimap<std::size_t, std::byte*> free_;        // recycled ranges by capacity
  std::unordered_map<std::byte*, std::size_t> taken_;  // capacity of each range in use or closed
  std::unordered_map<std::byte*, std::size_t> kept_;   // bytes of closed regions with pages
  std::size_t kept_bytes_ = 0;                         // sum of kept_
};

}  // namespace redzone::device

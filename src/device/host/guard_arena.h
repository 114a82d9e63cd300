// The guard arena: one large range of inaccessible addresses, in which regions are opened. Guard
// pages before and after each region stay inaccessible. An access past a buffer therefore faults,
// is attributed to its own buffer up to half that distance, and is distinguishable from a wild
// pointer.
//
// Pages are committed when they are touched: a region of several GiB costs only the used part.
#pragma once

#include <map>
#include <unordered_map>

#include "device/device.h"

namespace redzone::device {

class GuardArena {
 public:
  // Of addresses, not of memory; there is no arena where a process may have fewer.
  static constexpr std::size_t kLeastBytes = std::size_t{64} << 30;

  // `guard_bytes` of guard pages between two regions: a multiple of the page size. Closed regions
  // keep their pages up to `most_kept_bytes` in all: to commit pages again takes much longer than
  // to open them.
  explicit GuardArena(std::size_t guard_bytes, std::size_t most_kept_bytes = 0);
  ~GuardArena();
  GuardArena(const GuardArena&) = delete;
  GuardArena& operator=(const GuardArena&) = delete;

  const std::byte* begin() const { return base_; }
  const std::byte* end() const { return base_ + bytes_; }
  bool contains(const void* at) const { return at >= base_ && at <= base_ + bytes_; }

  // `bytes` must be a multiple of the page size. A null base: addresses or mappings are exhausted.
  // The contents are unspecified.
  Region open(std::size_t bytes);
  // Makes an open region inaccessible. Its addresses are not used again before recycle().
  void close(Region region);
  // A later open() may return the addresses of a closed region.
  void recycle(Region region);

 private:
  // Before the first region: an offset that wrapped in 32 bits goes up to 2^31 elements back, and
  // must not reach other mappings of the process.
  static constexpr std::size_t kLeadBytes = std::size_t{16} << 30;

  std::byte* place(std::size_t bytes);

  std::size_t guard_bytes_, most_kept_bytes_;
  std::byte* base_ = nullptr;
  std::size_t bytes_ = 0;
  std::size_t used_ = kLeadBytes;                // bytes from `base_`; the rest was never used
  std::multimap<std::size_t, std::byte*> free_;  // recycled ranges by capacity
  std::unordered_map<std::byte*, std::size_t> taken_;  // capacity of each of the other ranges
  std::unordered_map<std::byte*, std::size_t> kept_;   // bytes of closed regions with pages
  std::size_t kept_bytes_ = 0;                         // the sum
};

}  // namespace redzone::device
